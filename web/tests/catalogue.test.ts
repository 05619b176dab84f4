// Rules, merge patches, protections, commands.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fill, merge, rounded } from "../src/catalogue/merge.ts";
import { cutTexts, nameOf, plainPick, readPick, textOf, valueOf } from "../src/catalogue/protection.ts";
import { commandLine, quoted, scenarioFile } from "../src/catalogue/repeat.ts";
import { defaultsOf, experimentsOf, holds, resolve, shown } from "../src/catalogue/rules.ts";
import type { Catalogue, Spelling } from "../src/catalogue/types.ts";
import { catalogue as written } from "./fixtures/catalogue.mjs";

const catalogue = written as Catalogue;
const link = catalogue.views["link"] as NonNullable<Catalogue["views"][string]>;
const spelling = (word: string) => catalogue.protections.find((one) => one.word === word) as Spelling;

describe("merge patches", () => {
  it("follow the examples of RFC 7396", () => {
    const examples: [string, string, string][] = [
      ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
      ['{"a":"b"}', '{"a":null}', "{}"],
      ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
      ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
      ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
      ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
      ['["a","b"]', '["c","d"]', '["c","d"]'],
      ['{"a":"b"}', '["c"]', '["c"]'],
      ['{"a":"foo"}', "null", "null"],
      ['{"a":"foo"}', '"bar"', '"bar"'],
      ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
      ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
      ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ];
    for (const [target, patch, expected] of examples) {
      assert.equal(JSON.stringify(merge(JSON.parse(target), JSON.parse(patch))), expected);
    }
  });
  it("leave their target as it is", () => {
    const target = { a: { b: 1 } };
    merge(target, { a: { b: 2 } });
    assert.deepEqual(target, { a: { b: 1 } });
  });
  it("fill holes, also in lists", () => {
    const template = { a: { $: "x", times: 1000, whole: true }, b: [{ $: "x" }, "c"] };
    assert.deepEqual(fill(template, { x: 0.0125 }), { a: 13, b: [0.0125, "c"] });
    assert.equal(fill({ $: "x", times: 1000, plus: 2, whole: true }, { x: 0.0125 }), 15);
  });
  it("refuse a hole without a number", () => {
    assert.throws(() => fill({ $: "x" }, {}), /asks for the number of x/);
    assert.throws(() => fill({ $: "x" }, { x: "on" }), /asks for the number of x/);
  });
  it("round half away from zero", () => {
    assert.deepEqual([0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4].map(rounded), [1, 2, 3, -3, 0, 4]);
  });
});

describe("rules", () => {
  it("hold when all their conditions hold", () => {
    assert.equal(holds(undefined, {}), true);
    assert.equal(holds({ a: ["1", "2"], b: ["x"] }, { a: 2, b: "x" }), true);
    assert.equal(holds({ a: ["1", "2"], b: ["x"] }, { a: 2, b: "y" }), false);
  });
  it("give a configuration and settings", () => {
    const experiment = catalogue.experiments["stress"] as Catalogue["experiments"][string];
    const values = { ...defaultsOf(link.knobs), "loss.model": "ge", "link.length": 100, "link.rate": "25G" };
    const { configuration, settings } = resolve(experiment, values, { linkguardian: {} });
    assert.deepEqual(configuration["link"], { rate_bps: 25e9, propagation_ps: 500_000, mtu_bytes: 1500 });
    assert.deepEqual(configuration["loss"], { forward: { model: "ge", mean: 1e-3, burst: 5 } });
    assert.deepEqual(configuration["protection"], { linkguardian: {} });
    assert.deepEqual(settings, { "link.rate": "25G", "link.length": "100m", "loss.forward": "ge:mean=0.001,burst=5" });
    assert.equal((experiment.base["link"] as { rate_bps: number }).rate_bps, 1e11);
  });
  it("choose among the experiments that a knob names", () => {
    const names = (transport: string) =>
      experimentsOf(link, catalogue.experiments, { ...defaultsOf(link.knobs), transport }).map(([name]) => name);
    assert.deepEqual(names("tcp-fct"), ["tcp-fct", "stress"]);
    assert.deepEqual(names("rdma-fct"), ["rdma-fct", "stress"]);
  });
  it("show a knob only where it means something", () => {
    const ids = (values: Record<string, string>) => shown(link.knobs, { ...defaultsOf(link.knobs), ...values }).map((knob) => knob.id);
    assert.ok(!ids({}).includes("loss.burst"));
    assert.ok(ids({ "loss.model": "ge" }).includes("loss.burst"));
  });
});

describe("protections", () => {
  it("say only options that differ from their defaults", () => {
    const pick = plainPick(spelling("lg"));
    assert.equal(textOf(spelling("lg"), pick), "lg");
    pick.values["copies"] = "2";
    pick.values["tail"] = "off";
    assert.equal(textOf(spelling("lg"), pick), "lg:copies=2,tail=off");
    assert.equal(nameOf(spelling("lg"), pick), "LinkGuardian copies=2, tail=off");
    assert.deepEqual(valueOf(spelling("lg"), pick), { linkguardian: { copies: 2, tail: false } });
  });
  it("say their argument", () => {
    assert.equal(textOf(spelling("fec"), plainPick(spelling("fec"))), "fec:25/5");
    const read = readPick(catalogue.protections, "fec:32/4");
    assert.ok(typeof read !== "string");
    assert.deepEqual(valueOf(spelling("fec"), read), { fec: { k: 32, h: 4 } });
  });
  it("may be text", () => assert.equal(valueOf(spelling("none"), plainPick(spelling("none"))), "none"));
  it("are cut where a new word begins", () => {
    assert.deepEqual(cutTexts("none,lg:copies=2,tail=off,fec:25/5"), ["none", "lg:copies=2,tail=off", "fec:25/5"]);
  });
  it("refuse in one line", () => {
    assert.match(String(readPick(catalogue.protections, "lag")), /no protection is called lag; take one of none, lg/);
    assert.match(String(readPick(catalogue.protections, "lg:copy=2")), /lg has no option copy; its options are copies, tail/);
    assert.match(String(readPick(catalogue.protections, "lg:copies=9")), /copies is no 9; take one of auto, 1/);
    assert.match(String(readPick(catalogue.protections, "fec:25")), /fec:25 is no fec; write it as fec:25\/5/);
    assert.match(String(readPick(catalogue.protections, "fec:25/0")), /h lies from 1 to 128 frames, and 0 does not/);
  });
});

describe("what repeats a view", () => {
  const run = { experiment: "tcp-fct", protections: ["none", "lg:copies=2"], settings: { "link.rate": "25G", "loss.forward": "ge:mean=1e-3,burst=5", "flow.trials": "300" } };
  it("is a command line", () => {
    assert.equal(
      commandLine(run),
      "lossylink run tcp-fct -p none -p lg:copies=2 --set link.rate=25G --set loss.forward=ge:mean=1e-3,burst=5 --set flow.trials=300",
    );
  });
  it("looks at a run with options of its own", () => {
    assert.match(commandLine({ ...run, looks: ["--state-at 7us"] }), /--set flow\.trials=300 --state-at 7us$/);
  });
  it("quotes what a shell would take apart", () => {
    assert.equal(quoted("a=b c"), "'a=b c'");
    assert.equal(quoted("it's"), "'it'\\''s'");
    assert.equal(quoted("50%"), "50%");
  });
  it("is a scenario file", () => {
    assert.equal(
      scenarioFile(run),
      `experiment = "tcp-fct"\nprotection = ["none", "lg:copies=2"]\n\n[link]\nrate = "25G"\n\n[loss]\nforward = "ge:mean=1e-3,burst=5"\n\n[flow]\ntrials = 300\n`,
    );
  });
});
