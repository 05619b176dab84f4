// What the views compute: the jobs of a study, the map of decisions, the cliff, steps over days.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainPick } from "../src/catalogue/protection.ts";
import { cellsOf, entryOf, mapKnobs } from "../src/catalogue/plan.ts";
import { defaultsOf } from "../src/catalogue/rules.ts";
import type { Catalogue } from "../src/catalogue/types.ts";
import { berAt, berGrid } from "../src/figure/cliff.ts";
import { thinned } from "../src/figure/steps.ts";
import { inDays, worstWeek } from "../src/views/fabric-days.ts";
import { jobsOf, partsOf, repeatedOf } from "../src/views/flow-study.ts";
import { pickedOf } from "../src/views/props.ts";
import { catalogue as written } from "./fixtures/catalogue.mjs";

const catalogue = written as Catalogue;
const link = catalogue.views["link"] as NonNullable<Catalogue["views"][string]>;
const values = defaultsOf(link.knobs);
const picks = catalogue.protections.slice(0, 2).map(plainPick);

describe("a study of flows", () => {
  const picked = pickedOf(catalogue, picks);
  it("looks at all protections early, then at the rest", () => {
    const jobs = jobsOf(partsOf(catalogue, link, values), picked, values);
    assert.deepEqual(
      jobs.map(({ key, request }) => [key, request.do === "run" ? request.looks : null]),
      [
        ["tcp-fct none", [300, 3000]],
        ["tcp-fct lg", [300, 3000]],
        ["stress none", undefined],
        ["stress lg", undefined],
        ["tcp-fct none", [30000]],
        ["tcp-fct lg", [30000]],
      ],
    );
  });
  it("ends with as many flows as a reader asks for", () => {
    const looks = (flows: number) => partsOf(catalogue, link, { ...values, "flow.trials": flows })[0]?.looks;
    assert.deepEqual([looks(1000), looks(3000), looks(1e6)], [[300, 1000], [300, 3000], [300, 3000, 30000, 1e6]]);
  });
  it("says how to repeat it", () => {
    const more = { ...values, "flow.trials": 5000 };
    const [first] = repeatedOf(partsOf(catalogue, link, more), picked, more);
    assert.equal(first?.settings["flow.trials"], "5000");
    assert.deepEqual(first?.protections, ["none", "lg"]);
  });
  it("takes a protection once", () => {
    assert.equal(pickedOf(catalogue, [...picks, ...picks]).length, 2);
  });
});

describe("decisions", () => {
  const plan = catalogue.plan as NonNullable<Catalogue["plan"]>;
  it("are found by the values of the knobs", () => {
    const state = { ...defaultsOf(plan.knobs), "link.rate": "25G" };
    assert.match(entryOf(plan, state)?.command ?? "", /--link 25G .*--loss 1e-3 --target 1e-8/);
    assert.equal(entryOf(plan, { ...state, target: "1e-3" }), undefined);
  });
  it("make a map over two knobs", () => {
    const cells = cellsOf(plan, defaultsOf(plan.knobs));
    assert.equal(cells.length, 16);
    assert.ok(cells.every((cell) => cell.entry?.winner));
    assert.deepEqual([mapKnobs(plan)?.x.id, mapKnobs(plan)?.y.id], ["loss", "link.rate"]);
  });
});

describe("the cliff", () => {
  it("is read between its points, on logarithmic scales", () => {
    const points: [number, number][] = [[1e-5, 0], [1e-4, 1e-10], [1e-3, 1e-6], [1e-2, 1]];
    assert.ok(Math.abs((berAt(points, 1e-8) ?? 0) / 10 ** -3.5 - 1) < 1e-9);
    assert.equal(berAt(points, 1e-12), undefined);
    assert.equal(berAt([], 1e-8), undefined);
  });
  it("has its points evenly on a logarithmic scale", () => {
    assert.deepEqual(berGrid(1, 100, 3).map(Math.round), [1, 10, 100]);
  });
});

describe("steps over days", () => {
  const day = 86_400;
  it("keep the least and the greatest of each column", () => {
    const points = Array.from({ length: 10_000 }, (_, place): [number, number] => [place, place === 5000 ? -1 : Math.sin(place)]);
    const kept = thinned(points, 100);
    assert.ok(kept.length <= 202);
    assert.ok(kept.some(([, value]) => value === -1));
    assert.deepEqual(kept, [...kept].sort((one, other) => one[0] - other[0]));
  });
  it("begin a span with the state at its first moment", () => {
    assert.deepEqual(inDays([0, day, 3 * day], [1, 2, 3], 10, [2, 4]), [[2, 20], [3, 30], [4, 30]]);
  });
  it("find the week with the least capacity", () => {
    const events = { time_s: [0, 10, 20, 30].map((one) => one * day), capacity_gbps_least: [9, 5, 7, 8] };
    assert.deepEqual(worstWeek([events]), [6.5, 13.5]);
    assert.deepEqual(worstWeek([]), [0, 7]);
  });
});
