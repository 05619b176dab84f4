// What a built page carries, read from its file.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Catalogue } from "../../src/catalogue/types.ts";

/** The catalogue and the compiled simulator of a page. */
export function carriedBy(file: string): { catalogue: Catalogue; module: WebAssembly.Module } {
  const page = readFileSync(file, "utf8");
  return {
    catalogue: JSON.parse(partOf(page, "catalogue")) as Catalogue,
    module: new WebAssembly.Module(gunzipSync(Buffer.from(partOf(page, "simulator"), "base64"))),
  };
}

function partOf(page: string, id: string): string {
  const found = new RegExp(`<script [^>]*id="${id}">(.*?)</script>`, "s").exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no ${id}; build it again with make web`);
  return found;
}
