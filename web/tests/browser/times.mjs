// Times from a change to the first and to the final picture: node tests/browser/times.mjs FOLDER_OF_THE_PAGE [COUNT]

import { openBrowser } from "./browsers.mjs";
import { final, onPage, times } from "./pages.mjs";
import { serve } from "./serve.mjs";

const [folder, count = "50"] = process.argv.slice(2);
if (!folder) {
  console.error("error: folder missing; node tests/browser/times.mjs FOLDER_OF_THE_PAGE");
  process.exit(2);
}
const server = await serve(folder);
const browser = await openBrowser();
const found = { first: [], final: [] };
try {
  await onPage({ browser, address: server.address }, { fragment: "view=link" }, async (page) => {
    for (let change = 0; change < Number(count); change += 1) {
      const before = await page.evaluate(() => performance.getEntriesByName("lossylink-change").at(-1)?.startTime);
      await page.focus('.knob:has(#knob-loss-mean) input[type="range"]');
      await page.keyboard.press(change % 2 === 0 ? "ArrowRight" : "ArrowLeft");
      await page.waitForFunction((old) => performance.getEntriesByName("lossylink-change").at(-1)?.startTime !== old, {}, before);
      await final(page);
      await page.waitForFunction(() => performance.getEntriesByName("lossylink-final").length > 0);
      const { first, final: last } = await times(page);
      found.first.push(first);
      found.final.push(last);
    }
  });
} finally {
  await browser.close();
  server.close();
}
for (const [name, all] of Object.entries(found)) {
  const ordered = all.sort((one, other) => one - other);
  const at = (share) => ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))]?.toFixed(0);
  console.log(`${name} picture: median ${at(0.5)} ms, nine of ten within ${at(0.9)} ms, ${all.length} changes`);
}
