// node tests/resolve.mjs CATALOGUE < STATES: what the page makes of states, as JSON.
// A state is {"experiment": "tcp-fct", "values": {"link.rate": "100G", ...}, "protection": "lg:copies=2"}.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "lossylink-resolve-"));
const bundle = join(out, "resolving.mjs");
await esbuild.build({
  entryPoints: [join(HERE, "resolving.ts")],
  outfile: bundle,
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, [bundle, ...process.argv.slice(2)], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
