// Builds the page: node build.mjs --wasm FILE --catalogue FILE --out FOLDER
// Scripts, styles, the worker, the simulator (base64 of gzip) and the catalogue become one index.html.
// node build.mjs --licences writes licences.json: the packages that the page has parts of, for tools/licenses.py.

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

/** What is kept of the packages that the page has parts of. */
const LICENCES = join(HERE, "licences.json");

/** Builds the page into a folder and gives the sizes of its parts in bytes. */
export async function build({ wasm, catalogue, out, worker = join(HERE, "src/simulator/worker.ts") }) {
  const [{ script, packages }, style, template, licences, module, data] = await Promise.all([
    bundledScript(worker),
    bundledStyle(),
    readFile(join(HERE, "src/page.html"), "utf8"),
    readFile(join(HERE, "../THIRD-PARTY-LICENSES.md"), "utf8"),
    readFile(wasm),
    readFile(catalogue, "utf8"),
  ]);
  if ((await readFile(LICENCES, "utf8")) !== asText(packages)) {
    throw new Error("licences.json is not that of the page's packages; run make licenses");
  }
  const parts = {
    style,
    script: withoutEnd(script),
    licences: licences.trim().replaceAll("--", "- -"),
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
  const workerAsText = {
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
    plugins: [workerAsText],
    metafile: true,
  });
  return { script: outputFiles[0].text, packages: await packagesOf(Object.keys(metafile.inputs)) };
}

/** The packages that a bundle has parts of, by name, with the texts of their licences. */
async function packagesOf(inputs) {
  const found = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path));
  const folders = new Map(found.filter(Boolean).map(([folder, name]) => [name, join(HERE, folder)]));
  return Promise.all([...folders].sort().map(([name, folder]) => packageOf(name, folder)));
}

async function packageOf(name, folder) {
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no file with its licence; look for another package`);
  const text = (await readFile(join(folder, file), "utf8")).trim();
  return { name, version, license, text };
}

/** Packages as licences.json has them. */
function asText(packages) {
  return `${JSON.stringify(packages, null, 2)}\n`;
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
    options: {
      wasm: { type: "string" },
      catalogue: { type: "string" },
      out: { type: "string" },
      licences: { type: "boolean", default: false },
    },
  });
  if (values.licences) {
    const { packages } = await bundledScript(join(HERE, "src/simulator/worker.ts"));
    await writeFile(LICENCES, asText(packages));
    return;
  }
  const missing = ["wasm", "catalogue", "out"].filter((name) => !values[name]);
  if (missing.length > 0) {
    console.error(`error: --${missing.join(", --")} missing; node build.mjs --wasm FILE --catalogue FILE --out FOLDER`);
    process.exit(2);
  }
  const sizes = await build(values);
  for (const [name, bytes] of Object.entries(sizes)) console.log(`${name.padEnd(20)} ${bytes.toLocaleString("en")} B`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
