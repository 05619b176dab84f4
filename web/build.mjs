// Builds the page: node build.mjs --wasm FILE --catalogue FILE --out FOLDER
// Scripts, styles, the worker, the simulator (base64 of gzip) and the catalogue become one index.html.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OPTIONS = {
  absWorkingDir: HERE,
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
  const [{ script, licences }, style, template, module, data] = await Promise.all([
    bundledScript(worker),
    bundledStyle(),
    readFile(join(HERE, "src/page.html"), "utf8"),
    readFile(wasm),
    readFile(catalogue, "utf8"),
  ]);
  const parts = {
    style,
    script: withoutEnd(script),
    licences: licences.replaceAll("--", "- -"),
    catalogue: withoutEnd(JSON.stringify(JSON.parse(data))),
    simulator: gzipSync(module, { level: 9 }).toString("base64"),
  };
  const page = template.replace(/<!--(\w+)-->|@(licences)@/g, (hole, one, other) => parts[one ?? other] ?? hole);
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
  const { outputFiles, metafile } = await esbuild.build({
    ...OPTIONS,
    entryPoints: [join(HERE, "src/main.tsx")],
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [asText],
    metafile: true,
  });
  return { script: outputFiles[0].text, licences: await licencesOf(Object.keys(metafile.inputs)) };
}

/** The licences of the packages that a bundle has parts of, each text once. */
async function licencesOf(inputs) {
  const found = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path));
  const packages = new Map(found.filter(Boolean).map(([folder, name]) => [name, folder]));
  const texts = new Map();
  for (const [name, folder] of [...packages].sort()) {
    const file = (await readdir(join(HERE, folder))).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} has no file with its licence; look for another package`);
    const text = (await readFile(join(HERE, folder, file), "utf8")).trim();
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}\n\n${text}`).join("\n\n\n");
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
