// Tests of the built page in a real browser: node tests/browser/run.mjs --page FOLDER [--browser chrome|firefox] [--only NAME]
// --fake builds the page over the stand-in first, and tests that.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openBrowser } from "./browsers.mjs";
import { checks } from "./checks.mjs";
import { buildFake } from "./page.mjs";
import { serve } from "./serve.mjs";

/** A check that takes longer has failed. */
const CHECK_MS = 60_000;

const { values } = parseArgs({
  options: {
    page: { type: "string" },
    browser: { type: "string", default: "chrome" },
    executable: { type: "string" },
    only: { type: "string" },
    fake: { type: "boolean", default: false },
  },
});

const folder = values.fake ? await mkdtemp(join(tmpdir(), "lossylink-fake-")) : values.page;
if (!folder) refuse("--page missing; name the folder that build.mjs wrote, or take --fake");
if (values.fake) await buildFake(folder);
const browser = await openBrowser(values.browser, values.executable).catch((problem) => refuse(problem.message));
const server = await serve(folder);
let failed = 0;
try {
  for (const [name, check] of Object.entries(checks)) {
    if (values.only && !name.includes(values.only)) continue;
    const started = performance.now();
    const problem = await attempt(check, { browser, address: server.address, folder });
    failed += problem ? 1 : 0;
    console.log(`${problem ? "not ok" : "ok"} - ${name} (${Math.round(performance.now() - started)} ms)`);
    if (problem) console.log(`  ${String(problem.stack ?? problem).replaceAll("\n", "\n  ")}`);
  }
} finally {
  await browser.close();
  server.close();
}
process.exit(failed > 0 ? 1 : 0);

async function attempt(check, context) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${CHECK_MS / 1000} s`)), CHECK_MS);
  });
  try {
    await Promise.race([check(context), late]);
    return undefined;
  } catch (problem) {
    return problem;
  } finally {
    clearTimeout(timer);
  }
}

function refuse(line) {
  console.error(`error: ${line}`);
  process.exit(2);
}
