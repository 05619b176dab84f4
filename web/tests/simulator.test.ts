// One request at a time, the newest wins; and the crew that shares jobs.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Crew } from "../src/simulator/crew.ts";
import { refusalOf } from "../src/simulator/glue.ts";
import type { FromWorker, LineRequest, ToWorker } from "../src/simulator/protocol.ts";
import { Simulator, type WorkerLike } from "../src/simulator/simulator.ts";

const MODULE = Promise.resolve({} as WebAssembly.Module);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const request = (number: number): LineRequest => ({ do: "line", configuration: {}, ber: [number] });

/** A worker that answers after as many milliseconds as the request says. */
class Slow implements WorkerLike {
  static all: Slow[] = [];
  onmessage: WorkerLike["onmessage"] = null;
  onerror: WorkerLike["onerror"] = null;
  isEnded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor() {
    Slow.all.push(this);
  }
  postMessage(message: ToWorker) {
    if ("module" in message) return;
    const { ber } = JSON.parse(message.text) as LineRequest;
    const tell = (last: boolean) =>
      this.isEnded || this.onmessage?.({ data: { number: message.number, text: JSON.stringify({ ratios: ber }), last } } as MessageEvent<FromWorker>);
    tell(false);
    this.#timer = setTimeout(() => tell(true), ber[0]);
  }
  terminate() {
    this.isEnded = true;
    clearTimeout(this.#timer);
  }
}

describe("the simulator", () => {
  it("gives every answer of a request", async () => {
    const answers: unknown[] = [];
    await new Simulator(() => new Slow(), MODULE).run(request(1), (answer) => answers.push(answer));
    assert.deepEqual(answers, [{ ratios: [1] }, { ratios: [1] }]);
  });
  it("ends a busy worker for a newer request", async () => {
    Slow.all = [];
    const simulator = new Simulator(() => new Slow(), MODULE);
    const heard: number[] = [];
    const hear = (answer: unknown) => heard.push((answer as { ratios: number[] }).ratios[0] ?? -1);
    const older = simulator.run(request(10_000), hear);
    await pause(5);
    await simulator.run(request(2), hear);
    await older;
    assert.deepEqual(heard, [10_000, 2, 2]);
    assert.deepEqual(Slow.all.map((worker) => worker.isEnded), [true, false, false]);
  });
  it("waits for a worker that is about to end, and drops its answer", async () => {
    Slow.all = [];
    const simulator = new Simulator(() => new Slow(), MODULE);
    const heard: unknown[] = [];
    const older = simulator.run(request(8), () => heard.push("older"));
    await pause(2);
    await simulator.run(request(1), () => heard.push("newer"));
    await older;
    assert.deepEqual(heard, ["older", "newer", "newer"]);
    assert.ok(Slow.all.every((worker) => !worker.isEnded));
  });
  it("runs only the newest of many", async () => {
    const simulator = new Simulator(() => new Slow(), MODULE);
    const heard = new Set<number>();
    const runs = [500, 400, 300, 3].map((ms) => simulator.run(request(ms), () => heard.add(ms)));
    await Promise.all(runs);
    assert.deepEqual([...heard], [3]);
  });
  it("tells that a worker failed, and starts another", async () => {
    const made: Slow[] = [];
    const simulator = new Simulator(() => (made.push(new Slow()), made.at(-1) as Slow), MODULE);
    const answers: unknown[] = [];
    const run = simulator.run(request(10_000), (answer) => answers.push(answer));
    await pause(2);
    made[0]?.onerror?.({ message: "out of memory" } as ErrorEvent);
    await run;
    assert.deepEqual(answers.at(-1), { error: "the simulator stopped: out of memory" });
    await simulator.run(request(1), (answer) => answers.push(answer));
    assert.deepEqual(answers.at(-1), { ratios: [1] });
  });
});

describe("the crew", () => {
  const crewOf = (size: number) => new Crew(Array.from({ length: size }, () => new Simulator(() => new Slow(), MODULE)));
  const job = (key: string, ms: number) => ({ key, request: request(ms) });
  it("runs all jobs", async () => {
    const done = new Set<string>();
    const isDone = await crewOf(2).run([job("a", 1), job("b", 2), job("c", 1)], ({ key }) => done.add(key));
    assert.equal(isDone, true);
    assert.deepEqual([...done].sort(), ["a", "b", "c"]);
  });
  it("drops an older study", async () => {
    const crew = crewOf(2);
    const done: string[] = [];
    const older = crew.run([job("a", 900), job("b", 900), job("c", 900)], ({ key }) => done.push(key));
    await pause(5);
    const newer = await crew.run([job("d", 1)], ({ key }) => done.push(key));
    assert.deepEqual([await older, newer], [false, true]);
    assert.deepEqual(done.filter((key) => key === "d").length, 2);
    assert.ok(!done.includes("c"));
  });
});

describe("a trap", () => {
  it("keeps the words of the panic", () => {
    assert.equal(refusalOf('{"error":"no such code"}', "trap"), '{"error":"no such code"}');
    assert.equal(refusalOf("index out of bounds", "trap"), '{"error":"the simulator stopped: index out of bounds"}');
    assert.equal(refusalOf("", "unreachable"), '{"error":"the simulator stopped: unreachable"}');
  });
});
