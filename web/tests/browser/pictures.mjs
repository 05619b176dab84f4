// Pictures of each view on a desk and on a phone, light and dark: node tests/browser/pictures.mjs FOLDER_OF_THE_PAGE FOLDER [fake]

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "./browsers.mjs";
import { buildFake } from "./page.mjs";
import { DESK, onPage, PHONE } from "./pages.mjs";
import { serve } from "./serve.mjs";

const [folder, out, fake] = process.argv.slice(2);
if (!folder || !out) {
  console.error("error: folders missing; node tests/browser/pictures.mjs FOLDER_OF_THE_PAGE FOLDER");
  process.exit(2);
}
if (fake === "fake") await buildFake(folder);
mkdirSync(out, { recursive: true });
const server = await serve(folder);
const browser = await openBrowser();
try {
  const context = { browser, address: server.address };
  for (const view of ["link", "watch", "decide", "line", "fabric"]) {
    for (const [size, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      for (const scheme of ["light", "dark"]) {
        const features = [{ name: "prefers-color-scheme", value: scheme }];
        await onPage(context, { fragment: `view=${view}`, view: viewport, features }, (page) =>
          page.screenshot({ path: join(out, `${view}-${size}-${scheme}.png`), fullPage: true }),
        );
      }
    }
  }
} finally {
  await browser.close();
  server.close();
}
