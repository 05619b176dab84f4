// The fragment of the address.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Catalogue } from "../src/catalogue/types.ts";
import { readFragment, writeFragment } from "../src/state/fragment.ts";
import { openingPage } from "../src/state/state.ts";
import { catalogue as written } from "./fixtures/catalogue.mjs";

const catalogue = written as Catalogue;
const read = (fragment: string) => readFragment(catalogue, fragment, openingPage(catalogue));

describe("the fragment", () => {
  it("is readable", () => {
    assert.equal(
      writeFragment(catalogue, openingPage(catalogue)),
      "view=link&link.rate=100G&link.length=20&loss.model=bernoulli&loss.mean=0.001&transport=tcp-fct&transport.congestion_control=dctcp&flow.size=24387&flow.trials=30000&protections=none,lg",
    );
  });
  it("restores what was written, for every view", () => {
    for (const view of Object.keys(openingPage(catalogue).states)) {
      const { page, problems } = read(`view=${view}`);
      const again = readFragment(catalogue, writeFragment(catalogue, page), openingPage(catalogue));
      assert.deepEqual([problems, again.problems], [[], []]);
      assert.deepEqual(again.page, page);
    }
  });
  it("restores options, flows, a step and the frame", () => {
    const text = "view=link&link.rate=400G&loss.model=ge&loss.burst=7.5&protections=none,lg:copies=2,tail=off,fec:32/4&flow.trials=12345&embed=1";
    const { page, problems } = read(`#${text}`);
    assert.deepEqual(problems, []);
    assert.equal(page.embed, true);
    assert.equal(page.states.link.values["flow.trials"], 12345);
    assert.equal(page.states.link.values["loss.burst"], 7.5);
    assert.match(writeFragment(catalogue, page), /protections=none,lg:copies=2,tail=off,fec:32\/4&embed=1$/);
    assert.equal(read("view=watch&step=12").page.states.watch.step, 12);
  });
  it("tells what is wrong, and takes the default", () => {
    const { page, problems } = read("view=link&link.rate=3G&link.length=-1&loss.mean=x&nothing=1&protections=lg,lag&flow.trials=2000.5");
    assert.deepEqual(problems, [
      "link.rate is no 3G; take one of 10G, 25G, 100G, 400G; the page takes 100G",
      "link.length lies from 1 to 10,000 m, and -1 does not; the page takes 20",
      "loss.mean is a number, not x; the page takes 0.001",
      "the view link has no knob nothing; the page leaves it out",
      "no protection is called lag; take one of none, lg, lg-nb, fec, llr; the page leaves it out",
      "flow.trials is a whole number, and 2000.5 is not; the page takes 30000",
    ]);
    assert.deepEqual(page.states.link.values, openingPage(catalogue).states.link.values);
    assert.deepEqual(page.states.link.picks.map((pick) => pick.word), ["lg"]);
  });
  it("survives any text", () => {
    for (const text of ["", "#", "&&&", "=", "%", "view", "view=%E0%A4%A", "protections=", "__proto__=1", "view=constructor"]) {
      assert.ok(read(text).page.states.link);
    }
    assert.equal(read("view=nowhere").problems[0], "no view is called nowhere; the views are link, watch, decide, line, fabric");
  });
  it("opens at the view that a catalogue names", () => {
    assert.equal(openingPage({ ...catalogue, opens: "fabric" }).view, "fabric");
    assert.equal(openingPage({ ...catalogue, opens: "nowhere" }).view, "link");
    assert.equal(openingPage(catalogue).view, "link");
  });
  it("gives a view of one protection one of them", () => {
    assert.equal(read("view=watch").page.states.watch.picks.length, 1);
    assert.deepEqual(read("view=watch&protections=none,lg").page.states.watch.picks.map((pick) => pick.word), ["none"]);
  });
});
