// Numbers, cells and sentences; places on a slider.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NumberKnob, Percentile } from "../src/catalogue/types.ts";
import { csvText } from "../src/figure/export.ts";
import { decades, fineTicks } from "../src/figure/plot.ts";
import { looksOf } from "../src/figure/theme.ts";
import { nextPlace, numberAt, placeOf, PLACES } from "../src/pieces/slider.ts";
import type { Flows } from "../src/simulator/protocol.ts";
import { counted, digits, duration, listed, ratio, times, written } from "../src/words/numbers.ts";
import { percentileCell, tailSentence } from "../src/words/percentiles.ts";
import { cellOf } from "../src/words/rows.ts";

describe("numbers", () => {
  it("tell a time in its unit", () => assert.deepEqual([2.86, 999, 2570.6, 26_199_824].map((us) => duration(us)), ["2.86 us", "999 us", "2.57 ms", "26.2 s"]));
  it("have four digits, thousands apart, exponents at the ends", () => {
    assert.deepEqual(
      [0, 88.47, 3612.7, 3613.4, 24387, 1234567, 0.001, 0.000123456, 1e-8, 2.5e12, -15].map((value) => digits(value)),
      ["0", "88.47", "3,613", "3,613", "24,387", "1,234,567", "0.001", "1.235e-4", "1e-8", "2.5e12", "-15"],
    );
  });
  it("are the same when they are read again", () => {
    const all = [0, 1e-3, 1.2e-6, 0.00012345678912345, 24387, 1 / 3, 1e21];
    assert.deepEqual(all.map((value) => Number(written(value))), all);
    assert.deepEqual(all.slice(0, 3).map(written), ["0", "0.001", "1.2e-6"]);
  });
  it("have words", () => {
    assert.deepEqual([times(0.0486), times(1), times(41.3)], ["0.049x", "1x", "41x"]);
    assert.equal(ratio(1.84e-5), "1.8e-5");
    assert.deepEqual([counted(1, "flow"), counted(30000, "flow")], ["1 flow", "30,000 flows"]);
    assert.deepEqual([listed([]), listed(["a"]), listed(["a", "b", "c"])], ["", "a", "a, b and c"]);
  });
});

describe("cells", () => {
  it("have intervals by the names of the data dictionary", () => {
    const row = { effective_loss_rate: 1e-3, effective_loss_ci95: [9e-4, 1.1e-3], link_gbps: 97.314, x: null, y: "auto" };
    assert.deepEqual(cellOf(row, "effective_loss_rate"), { text: "0.001", interval: "9e-4 to 0.0011" });
    assert.deepEqual(["link_gbps", "x", "y", "z"].map((key) => cellOf(row, key).text), ["97.31", "-", "auto", "-"]);
  });
  it("show the upper end where nothing was seen", () => {
    assert.deepEqual(cellOf({ loss: 0, loss_ci95: [0, 1.84e-5] }, "loss"), { text: "< 1.8e-5" });
  });
});

const flows = (values: Record<number, number | null>, count: number): Flows => ({
  count,
  curve: [],
  percentiles: Object.entries(values).map(([percent, value]) => ({
    percent: Number(percent), value, low: (value ?? 100) * 0.9, high: value && value * 1.1, beyond: Math.round(count * (1 - Number(percent) / 100)),
  })),
});
const percentiles: Percentile[] = [50, 99, 99.9].map((percent) => ({ key: `p${percent}`, percent, label: `p${percent}` }));

describe("percentiles", () => {
  const none = flows({ 50: 88.47, 99: 162, 99.9: 3613 }, 5000);
  const lg = flows({ 50: 88.17, 99: 146.6, 99.9: 175.4 }, 5000);
  it("are compared with no protection", () => {
    assert.deepEqual(percentileCell(lg, 99.9, none), { text: "175.4", interval: "158 to 193", ratio: "0.049x" });
    assert.deepEqual(percentileCell(none, 50, none), { text: "88.47", interval: "79.6 to 97.3" });
  });
  it("are few or never", () => {
    assert.equal(percentileCell(flows({ 99.9: 175 }, 300), 99.9).text, "few");
    assert.equal(percentileCell(flows({ 99.9: null }, 5000), 99.9).text, "never");
  });
  it("make a sentence at the highest that all know", () => {
    const tails = [{ label: "no protection", flows: none }, { label: "LinkGuardian", flows: lg }];
    assert.equal(tailSentence(tails, percentiles), "99.9 % of the flows end within 3,613 us with no protection and within 175.4 us with LinkGuardian.");
  });
});

describe("a slider", () => {
  const knob: NumberKnob = { kind: "number", id: "x", label: "x", meaning: "", unit: "", scale: "log", min: 1e-6, max: 0.1, whole: false, default: 1e-3 };
  const linear: NumberKnob = { ...knob, scale: "linear", min: 0, max: 40, whole: true, default: 3 };
  it("goes from end to end", () => {
    assert.deepEqual([numberAt(knob, 0), numberAt(knob, PLACES)], [1e-6, 0.1]);
    assert.deepEqual([placeOf(knob, 1e-6), placeOf(knob, 0.1)], [0, PLACES]);
  });
  it("gives short numbers", () => {
    for (let place = 0; place <= PLACES; place += 1) assert.ok(String(numberAt(knob, place)).length <= 9);
    assert.equal(numberAt(linear, 6), 1);
  });
  it("moves at every key", () => {
    for (const value of [0, 1, 7, 39]) assert.notEqual(numberAt(linear, nextPlace(linear, value, 1)), value);
    for (const value of [1, 7, 40]) assert.notEqual(numberAt(linear, nextPlace(linear, value, -1)), value);
    assert.equal(nextPlace(linear, 40, 1), PLACES);
    assert.equal(nextPlace(linear, 0, -1), 0);
  });
  it("may begin at zero on a logarithmic scale", () => {
    const fromZero = { ...knob, min: 0, max: 1 };
    assert.deepEqual([numberAt(fromZero, 0), placeOf(fromZero, 0)], [0, 0]);
    assert.ok(placeOf(fromZero, 1e-3) > 0);
  });
});

describe("figures", () => {
  it("have ticks at powers of ten", () => {
    assert.deepEqual(decades(3e-5, 1), [1e-4, 1e-3, 1e-2, 0.1, 1]);
    assert.deepEqual(decades(1e-14, 1, 8), [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1]);
    assert.deepEqual(fineTicks(60, 500), [100, 200, 500]);
  });
  it("tell series of one colour apart", () => {
    const [first, second] = looksOf(["#0072B2", "#0072b2"]);
    assert.equal(first?.light, second?.light);
    assert.notEqual(first?.dash, second?.dash);
  });
  it("become comma-separated values", () => {
    assert.equal(csvText([["a", "b"], ['lg:copies=2,tail=off', null], ['"', 1.5]]), 'a,b\r\n"lg:copies=2,tail=off",\r\n"""",1.5\r\n');
  });
});
