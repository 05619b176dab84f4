// Builds the page: node build.mjs --wasm FILE --catalogue FILE --out FOLDER
// Scripts, styles, the worker, the simulator (base64 of gzip) and the catalogue become one index.html.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OPTIONS = {
  bundle: true,
  minify: true,
  write: false,
  target: ["es2022", "firefox115", "chrome109", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

/** Builds the page into a folder and gives the sizes of its parts in bytes. */
export async function build({ wasm, catalogue, out, worker = join(HERE, "src/simulator/worker.ts") }) {
  const [script, style, template, module, data] = await Promise.all([
    bundledScript(worker),
    bundledStyle(),
    readFile(join(HERE, "src/page.html"), "utf8"),
    readFile(wasm),
    readFile(catalogue, "utf8"),
  ]);
  const parts = {
    style,
    script: withoutEnd(script),
    catalogue: withoutEnd(JSON.stringify(JSON.parse(data))),
    simulator: gzipSync(module, { level: 9 }).toString("base64"),
  };
  const page = template.replace(/<!--(\w+)-->/g, (hole, name) => parts[name] ?? hole);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, "index.html"), page);
  return {
    page: page.length,
    page_gzipped: gzipSync(page).length,
    script_gzipped: gzipSync(script).length,
    style_gzipped: gzipSync(style).length,
    catalogue_gzipped: gzipSync(parts.catalogue).length,
    simulator_base64: parts.simulator.length,
  };
}

async function bundledScript(worker) {
  const asText = {
    name: "worker",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^worker:/ }, () => ({ path: worker, namespace: "worker" }));
      onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => {
        const { outputFiles } = await esbuild.build({ ...OPTIONS, entryPoints: [path], format: "iife" });
        return { contents: outputFiles[0].text, loader: "text" };
      });
    },
  };
  const { outputFiles } = await esbuild.build({
    ...OPTIONS,
    entryPoints: [join(HERE, "src/main.tsx")],
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [asText],
  });
  return outputFiles[0].text;
}

async function bundledStyle() {
  const { outputFiles } = await esbuild.build({ ...OPTIONS, entryPoints: [join(HERE, "src/style/page.css")] });
  return outputFiles[0].text;
}

/** Text inside a script element may not say that the element ends. */
function withoutEnd(text) {
  return text.replaceAll(/<(?=\/script|!--)/gi, "\\u003c");
}

async function main() {
  const { values } = parseArgs({
    options: { wasm: { type: "string" }, catalogue: { type: "string" }, out: { type: "string" } },
  });
  const missing = ["wasm", "catalogue", "out"].filter((name) => !values[name]);
  if (missing.length > 0) {
    console.error(`error: --${missing.join(", --")} missing; node build.mjs --wasm FILE --catalogue FILE --out FOLDER`);
    process.exit(2);
  }
  const sizes = await build(values);
  for (const [name, bytes] of Object.entries(sizes)) console.log(`${name.padEnd(20)} ${bytes.toLocaleString("en")} B`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
