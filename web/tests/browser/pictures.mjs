// Pictures of each view: node tests/browser/pictures.mjs --page FOLDER --out FOLDER, on a desk and on a phone, light and dark.
// --docs writes those of the documentation: states that tell something, without the header; --fake takes the stand-in.

import { mkdirSync } from "node:fs";
import { mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openBrowser } from "./browsers.mjs";
import { buildFake } from "./page.mjs";
import { DESK, final, onPage, PHONE } from "./pages.mjs";
import { withPalette } from "./png.mjs";
import { serve } from "./serve.mjs";

const DOCS = join(dirname(fileURLToPath(import.meta.url)), "../../../docs/figures/explore");
const DOCS_SIZE = { width: 1280, height: 800 };
/** The views that the documentation shows on a phone. */
const ON_A_PHONE = ["link", "watch", "decide", "line", "fabric"];
/** The documentation loads each picture where JavaScript is off. */
const MOST_BYTES = 120_000;
const CALM = { name: "prefers-reduced-motion", value: "reduce" };

/** The pictures of the documentation: the fragment of each, and what a reader does before. */
const TELLING = {
  link: { fragment: "view=link&loss.mean=0.001&protections=none,lg" },
  watch: { fragment: "view=watch&lost=17&protections=none" },
  decide: { fragment: "view=decide&rate=100G&loss=1e-3&target=1e-8" },
  line: { fragment: "view=line&loss.ber=5e-4" },
  histogram: { fragment: "view=line&loss.ber=1e-4", act: fillHistogram },
  fabric: { fragment: "view=fabric" },
};

/** Fills in the example of a histogram and brings its figure to the top. */
async function fillHistogram(page) {
  await page.click("textarea ~ .files button");
  await page.waitForSelector(".figure:has(textarea) pre");
  await page.$eval(".figure:has(textarea)", (figure) => scrollTo(0, figure.getBoundingClientRect().top + scrollY - 12));
}

const { values } = parseArgs({
  options: {
    page: { type: "string" },
    out: { type: "string" },
    docs: { type: "boolean", default: false },
    fake: { type: "boolean", default: false },
  },
});
const folder = values.fake ? await mkdtemp(join(tmpdir(), "lossylink-fake-")) : values.page;
const out = values.out ?? (values.docs ? DOCS : undefined);
if (!folder || !out) {
  console.error("error: folders missing; node tests/browser/pictures.mjs --page FOLDER_OF_THE_PAGE --out FOLDER, or --docs in place of --out");
  process.exit(2);
}
if (values.fake) await buildFake(folder);
mkdirSync(out, { recursive: true });
const server = await serve(folder);
const browser = await openBrowser();
const tooLarge = [];
try {
  const context = { browser, address: server.address };
  await (values.docs ? docs(context) : all(context));
} finally {
  await browser.close();
  server.close();
}
if (tooLarge.length > 0) {
  console.error(`error: ${tooLarge.join(", ")} of more than ${MOST_BYTES} bytes; take a state with less in it`);
  process.exit(1);
}

async function docs(context) {
  for (const [name, telling] of Object.entries(TELLING)) await forDocs(context, name, telling, DOCS_SIZE);
  for (const name of ON_A_PHONE) await forDocs(context, `${name}-phone`, { ...TELLING[name], act: toFigure }, PHONE);
}

async function forDocs(context, name, { fragment, act }, view) {
  const path = join(out, `${name}.png`);
  await onPage(context, { fragment: `${fragment}&embed=1`, view, features: [CALM] }, async (page) => {
    await act?.(page);
    await final(page);
    await drawn(page);
    await writeFile(path, withPalette(await page.screenshot()));
  });
  const { size } = await stat(path);
  console.log(`${path} ${size} B`);
  if (size > MOST_BYTES) tooLarge.push(name);
}

/** Brings the first figure to the top, with the folded knobs just out of sight. */
async function toFigure(page) {
  await page.$eval(".figure", (figure) => scrollTo(0, figure.getBoundingClientRect().top + scrollY - 12));
}

async function all(context) {
  for (const view of ["link", "watch", "decide", "line", "fabric"]) {
    for (const [size, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      for (const scheme of ["light", "dark"]) {
        const features = [{ name: "prefers-color-scheme", value: scheme }, CALM];
        await onPage(context, { fragment: `view=${view}`, view: viewport, features }, async (page) => {
          await drawn(page);
          await page.screenshot({ path: join(out, `${view}-${size}-${scheme}.png`), fullPage: true });
        });
      }
    }
  }
}

/** Waits for what is drawn after the last answer: fonts, and two frames. */
async function drawn(page) {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
}
