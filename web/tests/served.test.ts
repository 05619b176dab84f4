// Which catalogue the page takes.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Catalogue } from "../src/catalogue/types.ts";
import { chosenCatalogue } from "../src/served.ts";
import { catalogue } from "./fixtures/catalogue.mjs";

const embedded = catalogue as Catalogue;
const { plan, ...scenario } = { ...embedded, version: "served" };
const here = { protocol: "http:", hostname: "127.0.0.1" };
const answer = (value: unknown, ok = true) => async () => ({ ok, json: async () => value });
const refuse = async () => Promise.reject(new Error("asked"));

describe("a catalogue beside the page", () => {
  it("takes the place of the embedded one, whose plan stays", async () => {
    const chosen = await chosenCatalogue(embedded, here, answer(scenario));
    assert.equal(chosen.catalogue.version, "served");
    assert.equal(chosen.catalogue.plan, plan);
    assert.equal(chosen.problem, undefined);
  });
  it("is asked for on this machine alone", async () => {
    for (const place of [{ protocol: "file:", hostname: "" }, { protocol: "https:", hostname: "example.org" }]) {
      assert.equal((await chosenCatalogue(embedded, place, answer(scenario))).catalogue, embedded);
    }
  });
  it("may be absent", async () => {
    assert.deepEqual(await chosenCatalogue(embedded, here, answer("", false)), { catalogue: embedded });
    assert.deepEqual(await chosenCatalogue(embedded, here, refuse), { catalogue: embedded });
    assert.deepEqual(await chosenCatalogue(embedded, here, answer(null)), { catalogue: embedded });
  });
  it("is told when it is none", async () => {
    for (const value of [7, {}, { views: {} }]) {
      const chosen = await chosenCatalogue(embedded, here, answer(value));
      assert.equal(chosen.catalogue, embedded);
      assert.match(chosen.problem ?? "", /no catalogue of lossylink/);
    }
  });
});
