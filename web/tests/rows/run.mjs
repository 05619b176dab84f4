// Rows of the page beside those of lossylink run: node tests/rows/run.mjs --page FOLDER STATES
// STATES is what python -m tests.python.explorer_states wrote.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
/** More time than all runs take, with the slowest machine in mind. */
const MOST_MS = 300_000;

const { values, positionals } = parseArgs({ options: { page: { type: "string" } }, allowPositionals: true });
if (!values.page || positionals.length !== 1) {
  console.error("error: write node tests/rows/run.mjs --page FOLDER STATES");
  process.exit(2);
}
const out = mkdtempSync(join(tmpdir(), "lossylink-rows-"));
const script = join(out, "rows.mjs");
await esbuild.build({
  entryPoints: [join(HERE, "rows.ts")],
  outfile: script,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
});
const words = ["--enable-source-maps", script, join(values.page, "index.html"), positionals[0]];
const { status } = spawnSync(process.execPath, words, { stdio: "inherit", timeout: MOST_MS });
rmSync(out, { recursive: true });
if (status === null) console.error(`error: the states took more than ${MOST_MS / 1000} s; draw fewer, or smaller ones`);
process.exit(status ?? 1);
