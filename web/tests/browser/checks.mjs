// What a reader does with the page, and what must come of it.

import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { final, onPage, PHONE, times } from "./pages.mjs";
import { serve } from "./serve.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const DARK = [{ name: "prefers-color-scheme", value: "dark" }];
const CALM = [{ name: "prefers-reduced-motion", value: "reduce" }];

const viewNames = async (page) => page.$$eval('[role="tab"]', (tabs) => tabs.map((tab) => tab.id.replace("tab-", "")));
const fragmentOf = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const press = async (page, key, times_ = 1) => {
  for (let count = 0; count < times_; count += 1) await page.keyboard.press(key);
};

/** What shortens the runs of a view: a page in tests is compiled quickly and is slow. */
const SHORT = { link: "&flow.trials=1000&traffic.packets=10000", line: "&flow.trials=1000&traffic.packets=10000", fabric: "&protections=none" };

/** Every view in turn, at its defaults but for the length of its runs; with `whole`, at all defaults. */
async function eachView(context, { whole = false, ...options }, use) {
  let names = [];
  await onPage(context, { ...options, wait: false }, async (page) => void (names = await viewNames(page)));
  for (const name of names) await onPage(context, { ...options, fragment: `view=${name}${whole ? "" : (SHORT[name] ?? "")}` }, (page) => use(page, name));
}

async function seriousFindings(page) {
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

/** No view has a serious finding, with all that is folded open. */
function noFindings(context, features) {
  return eachView(context, { features }, async (page, name) => {
    await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
    assert.deepEqual(await seriousFindings(page), [], name);
  });
}

async function widthIsHeld(page, name) {
  const { inner, scrolled } = await page.evaluate(() => ({ inner: innerWidth, scrolled: document.documentElement.scrollWidth }));
  assert.ok(scrolled <= inner, `${name}: the page is ${scrolled} px wide in a window of ${inner} px`);
}

/** The slider of the knob whose field has this name. */
const slider = (id) => `.knob:has(#knob-${id.replaceAll(".", "-")}) input[type="range"]`;

export const checks = {
  "each view draws a picture and says it in words": (context) =>
    eachView(context, { whole: true }, async (page, name) => {
      assert.ok((await page.$$(".picture svg")).length > 0, name);
      const words = await page.$$eval("figcaption", (all) => all.map((one) => one.textContent));
      assert.ok(words.every((text) => text.length > 20 && !/on (its|their) way/.test(text)), `${name}: ${words}`);
    }),

  "a moved slider changes picture, table and address": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      const before = await page.$eval(".figure table", (table) => table.textContent);
      await page.focus(slider("loss.mean"));
      await press(page, "ArrowRight", 40);
      await page.waitForFunction((old) => document.querySelector(".figure table")?.textContent !== old, {}, before);
      await final(page);
      assert.doesNotMatch(await fragmentOf(page), /loss\.mean=0\.001&/);
      const { first, final: last } = await times(page);
      console.log(`  first picture ${first.toFixed(0)} ms after the change, final ${last.toFixed(0)} ms`);
      assert.ok(first >= 0 && last >= first);
    }),

  "back and forward restore the states": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      await page.click("#tab-decide");
      await page.waitForSelector("#tab-decide[aria-selected=true]");
      await page.goBack();
      await page.waitForSelector("#tab-link[aria-selected=true]");
      await page.goForward();
      await page.waitForSelector("#tab-decide[aria-selected=true]");
    }),

  "a link restores a view in another tab": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      await page.focus(slider("loss.mean"));
      await press(page, "ArrowLeft", 30);
      await press(page, "Tab"); // the movement ends, and the address has it
      await final(page);
      const hash = (await page.evaluate(() => location.hash)).slice(1);
      const table = await page.$eval(".figure table", (one) => one.textContent);
      await onPage(context, { fragment: hash }, async (other) => {
        assert.equal(await other.$eval(".figure table", (one) => one.textContent), table);
      });
    }),

  "wrong values in the address are told in a line": (context) =>
    onPage(context, { fragment: "view=link&loss.mean=x&nothing=1&protections=lg,lag" }, async (page) => {
      const line = await page.$eval('.panel > [role="alert"]', (one) => one.textContent);
      assert.match(line, /loss\.mean is a number, not x.*no knob nothing.*no protection is called lag/);
    }),

  "a wrong number in a field is told beside it": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      const field = "#knob-loss-mean";
      await page.click(field, { count: 3 });
      await page.type(field, "seven");
      await page.keyboard.press("Tab");
      assert.match(await page.$eval(".knob .problem", (one) => one.textContent), /is a number, not seven/);
      assert.equal(await page.$eval(field, (one) => one.getAttribute("aria-invalid")), "true");
    }),

  "a protection that is ticked is drawn, and its options open": (context) =>
    onPage(context, { fragment: "view=link&protections=none" }, async (page) => {
      const rows = () => page.$$eval(".figure tbody tr", (all) => all.length);
      assert.equal(await rows(), 1);
      await page.click('.protection:nth-of-type(2) input[type="checkbox"]');
      await page.waitForFunction(() => document.querySelectorAll(".figure table:first-of-type tbody tr").length > 1);
      assert.match(await fragmentOf(page), /protections=none,/);
    }),

  "steps are read out": (context) =>
    onPage(context, { fragment: "view=watch" }, async (page) => {
      await page.focus(".steps button");
      await press(page, "ArrowRight", 3);
      await page.waitForSelector("[data-current]");
      assert.match(await page.$eval(".words", (one) => one.textContent), / us, .+ to .+: /);
      const [, , telling] = await page.$$(".steps button");
      await telling.click();
      await page.waitForFunction(() => /lost|sent again|notification/i.test(document.querySelector(".words")?.textContent ?? ""));
    }),

  "a step has the state of the link's two ends": (context) =>
    onPage(context, { fragment: "view=watch" }, async (page) => {
      const command = () => page.$eval(".repeat pre", (one) => one.textContent);
      assert.match(await command(), /--pcap sw2-sw6=link\.pcapng$/);
      await page.$eval(".states", (one) => (one.open = true));
      assert.match(await page.$eval(".states .caption", (one) => one.textContent), /^Step to a frame/);
      await page.focus(".steps button");
      await press(page, "ArrowRight", 4);
      await page.waitForSelector(".states tr.winner");
      const [near, far] = await page.$$eval(".states table", (all) => all.map((one) => one.textContent));
      assert.match(near, /to_link/);
      assert.match(far, /from_link/);
      assert.match(await command(), /--state-at [\d.]+us$/);
    }),

  "a histogram of a switch is drawn, or refused in a line": (context) =>
    onPage(context, { fragment: "view=line" }, async (page) => {
      const caption = () => page.$eval(".figure:has(textarea) figcaption", (one) => one.textContent);
      assert.doesNotMatch(await caption(), /that the switch counted/);
      const [example] = await page.$$(".figure:has(textarea) textarea ~ .files button");
      await example.click();
      await page.waitForFunction(() => /--fec-histogram/.test(document.querySelector(".figure:has(textarea) pre")?.textContent ?? ""));
      assert.match(await caption(), /of the 2,3\d\d,\d{3},\d{3} codewords that the switch counted has 0\.\d+/);
      await page.focus("#histogram");
      await page.$eval("#histogram", (field) => field.setSelectionRange(0, field.value.length));
      await page.keyboard.type("BIN0 12\nBIN1 twelve");
      assert.equal(await page.$eval("#histogram-problem", (one) => one.textContent), "line 2 is no bin with a count: BIN1 twelve.");
    }),

  "the keyboard alone reaches everything": (context) =>
    eachView(context, {}, async (page, name) => {
      const missed = await page.evaluate(() =>
        [...document.querySelectorAll("button, input, select, summary, pre, a[href]")]
          .filter((one) => one.tabIndex < 0 && one.getAttribute("role") !== "tab" && one.checkVisibility())
          .map((one) => one.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(missed, [], name);
      await page.focus('[role="tab"][aria-selected="true"]');
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement?.matches(":focus-visible")), name);
    }),

  "arrow keys go from tab to tab": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      await page.focus("#tab-link");
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-selected")), "true");
      assert.notEqual(await page.evaluate(() => document.activeElement?.id), "tab-link");
    }),

  "a phone needs no horizontal scroll": (context) =>
    eachView(context, { view: PHONE }, async (page, name) => {
      await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
      await widthIsHeld(page, name);
    }),

  "axe has no serious finding": (context) => noFindings(context, []),
  "axe has no serious finding in the dark": (context) => noFindings(context, DARK),

  "reduced motion has no transition": (context) =>
    onPage(context, { features: CALM }, async (page) => {
      const moving = await page.$$eval("*", (all) =>
        all.filter((one) => Number.parseFloat(getComputedStyle(one).transitionDuration) > 0).map((one) => one.className),
      );
      assert.deepEqual(moving, []);
    }),

  "a frame of the documentation has no header": (context) =>
    onPage(context, { fragment: "view=link&embed=1" }, async (page) => {
      assert.equal(await page.$("header"), null);
      assert.ok(await page.$(".figure"));
    }),

  "the page opens from a file": ({ browser, folder }) =>
    onPage({ browser, address: pathToFileURL(join(folder, "index.html")).href }, { fragment: "view=link" }, async (page) => {
      assert.ok((await page.$$(".figure tbody tr")).length > 0);
      await page.click("#tab-watch");
      await page.waitForSelector(".watch svg");
      assert.match(await fragmentOf(page), /view=watch/);
    }),

  "a catalogue beside the page takes the place of its own": async (context) => {
    const own = /<script type="application\/json" id="catalogue">(.*?)<\/script>/s.exec(await readFile(join(context.folder, "index.html"), "utf8"));
    const { plan: _, ...catalogue } = JSON.parse(own[1]);
    const server = await serve(context.folder, { "catalogue.json": JSON.stringify({ ...catalogue, version: "of a scenario" }) });
    try {
      await onPage({ ...context, address: server.address }, { fragment: "view=link" }, async (page) => {
        assert.match(await page.$eval(".brand", (one) => one.textContent), /of a scenario/);
        await page.click("#tab-decide");
        await page.waitForSelector(".decision");
      });
    } finally {
      server.close();
    }
  },

  "a frame of a file leaves focus and history to the page around it": async (context) => {
    const page_ = pathToFileURL(join(context.folder, "index.html")).href;
    const outer = join(await mkdtemp(join(tmpdir(), "lossylink-outer-")), "outer.html");
    const frame = `<iframe src="${page_}#view=link&embed=1" style="width:100%;height:640px;border:0"></iframe>`;
    await writeFile(outer, `<!doctype html><html lang="en"><title>outer</title><div class="view"></div><p>Words</p>${frame}`);
    await onPage({ ...context, address: pathToFileURL(outer).href }, { wait: false }, async (page) => {
      const places = await page.evaluate(() => history.length);
      const inner = await (await page.waitForSelector("iframe")).contentFrame();
      await inner.waitForSelector(".figure table");
      assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
      await inner.focus(slider("loss.mean"));
      await press(page, "ArrowRight", 5);
      await inner.waitForFunction(() => location.hash.includes("loss.mean"));
      assert.ok(!(await inner.evaluate(() => location.hash)).includes("loss.mean=0.001&"));
      assert.equal(await page.evaluate(() => history.length), places);
    });
  },

  "a figure is saved as PNG, SVG and CSV": (context) =>
    eachView(context, {}, async (page, name) => {
      await page.evaluate(() => {
        globalThis.saved = [];
        HTMLAnchorElement.prototype.click = function () {
          globalThis.saved.push(fetchable(this));
        };
        const blobs = new Map();
        const make = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => {
          const address = make(blob);
          blobs.set(address, blob);
          return address;
        };
        const fetchable = async (link) => {
          const blob = blobs.get(link.href);
          return { name: link.download, size: blob.size, head: (await blob.slice(0, 60).text()).slice(0, 40) };
        };
      });
      for (const button of await page.$$(".figure:first-of-type .files:has(button):not([role=toolbar]) button")) await button.click();
      await page.waitForFunction(() => globalThis.saved.length >= 3);
      const saved = await page.evaluate(() => Promise.all(globalThis.saved));
      const of = (end) => saved.find((file) => file.name.endsWith(end));
      assert.ok(of(".png").size > 5000 && of(".png").head.includes("PNG"), `${name}: ${JSON.stringify(saved)}`);
      assert.match(of(".svg").head, /^<\?xml/);
      assert.match(of(".csv").head, /^[a-z_]+,/);
    }),

  "a movement is one place to come back to": (context) =>
    onPage(context, { fragment: "view=link" }, async (page) => {
      const before = await page.evaluate(() => history.length);
      await page.focus(slider("loss.mean"));
      await press(page, "ArrowRight", 5);
      await final(page);
      await page.waitForFunction(() => location.hash.includes("loss.mean"));
      await page.goBack();
      await page.waitForFunction(() => location.hash === "#view=link");
      assert.equal(await page.$eval("#knob-loss-mean", (field) => field.value), "0.001");
      assert.ok((await page.evaluate(() => history.length)) <= before + 5);
    }),

  "two tabs work side by side": (context) =>
    onPage(context, { fragment: "view=link" }, () =>
      onPage(context, { fragment: "view=watch" }, async (page) => assert.ok(await page.$(".watch svg"))),
    ),
};
