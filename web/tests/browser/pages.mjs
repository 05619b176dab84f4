// Pages of a browser that tell everything that goes wrong in them.

import assert from "node:assert/strict";

/** Widths of a desk and of a phone. */
export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740, isMobile: true, hasTouch: true };

/** Opens the page at a fragment, waits for the final picture, runs `use`, and fails on any error of the page. */
export async function onPage({ browser, address }, { fragment = "", view = DESK, features = [], wait = true }, use) {
  const page = await browser.newPage(features);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => isError(message) && errors.push(message.text()));
  try {
    await page.setViewport(view);
    await page.goto(fragment ? `${address}#${fragment}` : address);
    await page.waitForSelector(".view");
    for (const { name, value } of features) assert.ok(await page.evaluate((query) => matchMedia(query).matches, `(${name}: ${value})`), name);
    if (wait) await final(page);
    await use(page);
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
  }
}

/** Chromium tells that no catalogue is beside the page: that is no error. */
function isError(message) {
  return message.type() === "error" && !message.location().url?.endsWith("/catalogue.json");
}

/** Waits until the view waits for the simulator no more and has a picture and a table; what the simulator refuses fails. */
export async function final(page) {
  await page.waitForFunction(() => {
    const view = document.querySelector(".view");
    if (!view || view.dataset.busy === "true") return false;
    return view.querySelector(".errors .problem") ?? (view.querySelector(".picture svg") && view.querySelector(".figures table"));
  });
  const refused = await page.$$eval(".view .errors .problem", (lines) => lines.map((line) => line.textContent));
  assert.deepEqual(refused, [], "the simulator refused");
}

/** Milliseconds from the last change to the first and to the final picture. */
export async function times(page) {
  return page.evaluate(() => {
    const at = (what) => performance.getEntriesByName(`lossylink-${what}`).at(-1)?.startTime ?? Number.NaN;
    return { first: at("first") - at("change"), final: at("final") - at("change") };
  });
}
