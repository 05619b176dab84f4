// Runs the unit tests: each file bundled for node, then node's own test runner.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "lossylink-tests-"));
const files = readdirSync(HERE).filter((name) => name.endsWith(".test.ts"));
await esbuild.build({
  entryPoints: files.map((name) => join(HERE, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
const found = files.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...found], { stdio: "inherit", timeout: 60_000 });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
