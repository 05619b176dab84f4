// Debian's browsers as they are, with what a reader has set in them: dark mode, less motion.

import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";

const PLACES = {
  chrome: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};
/** What Firefox calls the media features: it takes them when it starts. */
const PREFERENCES = {
  "prefers-color-scheme: dark": { "layout.css.prefers-color-scheme.content-override": 0 },
  "prefers-color-scheme: light": { "layout.css.prefers-color-scheme.content-override": 1 },
  "prefers-reduced-motion: reduce": { "ui.prefersReducedMotion": 1 },
};
/** Both browsers show the light page, unless a test asks for the dark one. */
const LIGHT = [{ name: "prefers-color-scheme", value: "light" }];

/** A browser; `newPage(features)` opens a page with media features, `close` ends all that was started. */
export async function openBrowser(name = "chrome", executable = undefined) {
  const executablePath = executable ?? PLACES[name]?.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`no ${name} found; install Debian's package, or name it with --executable`);
  // A container without user namespaces has no sandbox for root; pages here come from this folder alone.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  // Letters without coloured edges, and each picture drawn as a whole: pictures are the same every time, and smaller.
  const args = name === "chrome" ? [...sandbox, "--disable-lcd-text", "--font-render-hinting=none", "--disable-partial-raster"] : [];
  const started = new Map();
  const start = (extraPrefsFirefox = {}) => {
    const key = JSON.stringify(extraPrefsFirefox);
    if (!started.has(key)) started.set(key, puppeteer.launch({ browser: name, executablePath, headless: true, args, extraPrefsFirefox }));
    return started.get(key);
  };
  return {
    async newPage(features = []) {
      const wanted = features.some((one) => one.name === LIGHT[0].name) ? features : [...LIGHT, ...features];
      if (name === "firefox") {
        const preferences = wanted.map((one) => PREFERENCES[`${one.name}: ${one.value}`] ?? {});
        return (await start(Object.assign({}, ...preferences))).newPage();
      }
      const page = await (await start()).newPage();
      await page.emulateMediaFeatures(wanted);
      return page;
    },
    close: async () => {
      for (const browser of started.values()) await (await browser).close();
    },
  };
}
