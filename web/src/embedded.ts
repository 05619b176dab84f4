// What the built page carries: the catalogue, the worker, and the simulator as base64 of gzip.

import type { Catalogue } from "./catalogue/types.ts";

/** The catalogue of the page. */
export function embeddedCatalogue(): Catalogue {
  return JSON.parse(textOf("catalogue")) as Catalogue;
}

/** The compiled simulator. */
export async function embeddedModule(): Promise<WebAssembly.Module> {
  const bytes = bytesOf(textOf("simulator"));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(inflated).arrayBuffer());
}

/** What starts workers; their script is part of the page, so that they also start from a file. */
export function workerStarter(script: string): () => Worker {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return () => new Worker(address, { name: "lossylink" });
}

function textOf(id: string): string {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`the page has no ${id}; build it again with make web`);
  return text;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  return bytes;
}
