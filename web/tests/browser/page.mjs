// Builds the page over the stand-in into a folder, for tests of the page alone.

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../../build.mjs";
import { catalogue } from "../fixtures/catalogue.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
/** The shortest module that there is: its head. */
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Builds it and gives the sizes of its parts. */
export async function buildFake(out) {
  const folder = await mkdtemp(join(tmpdir(), "lossylink-page-"));
  const [wasm, file] = [join(folder, "empty.wasm"), join(folder, "catalogue.json")];
  await Promise.all([writeFile(wasm, EMPTY_MODULE), writeFile(file, JSON.stringify(catalogue))]);
  return build({ wasm, catalogue: file, out, worker: join(HERE, "../fixtures/fake-worker.ts") });
}
