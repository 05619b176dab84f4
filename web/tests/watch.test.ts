// The timeline of one flow.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lanesOf, layoutOf } from "../src/figure/timeline-layout.ts";
import type { Seen, Watched } from "../src/simulator/protocol.ts";
import { movingAt, stateAt } from "../src/words/states.ts";
import { frameWords, storyOf, wayWords } from "../src/words/watched.ts";
import { ask } from "./fixtures/fake-simulator.ts";

const hops = ["h4-sw8", "sw8-sw2", "sw2-sw6", "sw6-h8"];
const seen = (at_us: number, hop: string, more: Partial<Seen> = {}): Seen => ({
  at_us, hop, direction: "forward", lost: false, octets: 1519, kind: "data", words: "data 0", ...more,
});
const flow: Watched = {
  hops,
  link: "sw2-sw6",
  row: { fct_us_max: 4012 },
  states: [
    { at_us: 2.500999, near: { protection: "lg", to_link: 1, queue_bytes: 0, sender: { holes: 0 } }, far: { from_link: 0, receiver: { is_full: false } } },
    { at_us: 3.000999, near: { protection: "lg", to_link: 1, queue_bytes: 0, sender: { holes: 1 } }, far: { from_link: 0, receiver: { is_full: true } } },
    { at_us: 4002.500999, near: { protection: "lg", to_link: 2, queue_bytes: 0, sender: { holes: 0 } }, far: { from_link: 1, receiver: { is_full: true } } },
  ],
  frames: [
    seen(0, "h4-sw8"),
    seen(1, "sw8-sw2"),
    seen(2.5, "sw2-sw6", { lost: true }),
    seen(3, "sw2-sw6", { direction: "backward", octets: 60, kind: "notification", words: "1 lost from 0 on" }),
    seen(4002.5, "sw2-sw6", { kind: "retransmission" }),
    seen(4003.5, "sw6-h8", { kind: "retransmission" }),
  ],
};

describe("the timeline", () => {
  const layout = layoutOf(flow);
  it("has the nodes of the path as lanes", () => assert.deepEqual(lanesOf(hops), ["h4", "sw8", "sw2", "sw6", "h8"]));
  it("finds the link that loses frames", () => {
    assert.deepEqual(layout.link, [2, 3]);
  });
  it("lets frames go from lane to lane, in both directions", () => {
    assert.deepEqual(layout.arrows.map(({ from, to }) => [from, to]), [[0, 1], [1, 2], [2, 3], [3, 2], [2, 3], [3, 4]]);
  });
  it("keeps the order of time", () => {
    for (const [place, arrow] of layout.arrows.entries()) {
      assert.ok(arrow.y2 > arrow.y1);
      assert.ok(arrow.y1 >= (layout.arrows[place - 1]?.y1 ?? 0));
      assert.ok(arrow.y2 <= layout.height);
    }
  });
  it("takes the shortest time to the next hop for the time of flight", () => {
    assert.deepEqual(layout.arrows.slice(0, 3).map(({ arrives_us }) => arrives_us), [1, 2.5, 3.5]);
  });
  it("cuts times without a frame short", () => {
    assert.equal(layout.gaps.length, 1);
    assert.ok(layout.height < 600);
  });
  it("takes a flow without frames", () => assert.equal(layoutOf({ hops, link: "sw2-sw6", frames: [], states: [], row: {} }).arrows.length, 0));
  it("has room for a whole flow", () => {
    for (const protection of ["none", { linkguardian: {} }]) {
      const whole = ask({ do: "watch", configuration: { protection, loss: { forward: { positions: [16] } } } }, () => {}) as Watched;
      const { arrows, height } = layoutOf(whole);
      assert.equal(arrows.length, whole.frames.length);
      assert.ok(height < 4000, `${height}`);
    }
  });
});

describe("the state of the ends", () => {
  const counters = (step: number) => {
    const state = stateAt(flow, step);
    return state && movingAt(flow, state);
  };
  it("is that after the newest frame of the link", () => {
    assert.deepEqual([null, 0, 1, 2, 3, 4, 5].map((step) => stateAt(flow, step)?.at_us), [undefined, undefined, undefined, 2.500999, 3.000999, 4002.500999, 4002.500999]);
  });
  it("has the counters that move, and what a step changes", () => {
    assert.deepEqual(counters(3), [
      { end: "near", name: "to_link", value: 1, before: null },
      { end: "near", name: "sender.holes", value: 1, before: 0 },
      { end: "far", name: "from_link", value: 0, before: null },
      { end: "far", name: "receiver.is_full", value: true, before: false },
    ]);
    assert.deepEqual(counters(4)?.map(({ before }) => before), [1, 1, 0, null]);
    assert.ok(counters(2)?.every(({ before }) => before === null));
  });
});

describe("the words of frames", () => {
  it("say where a frame goes", () => {
    assert.equal(wayWords(seen(0, "sw2-sw6")), "sw2 to sw6");
    assert.equal(wayWords(seen(0, "sw2-sw6", { direction: "backward" })), "sw6 to sw2");
    assert.equal(frameWords(seen(2.5, "sw2-sw6", { lost: true })), "2.5 us, sw2 to sw6: data 0. This frame is lost.");
  });
  it("tell the story of a loss", () => {
    assert.equal(
      storyOf(flow),
      "The link loses a frame at 2.5 us (data 0). sw6 asks for the frame 0.5 us after the loss. Then no frame passes for 4 ms. " +
        "sw2 sends the frame again 4 ms after the loss. The flow takes 4.01 ms.",
    );
    assert.match(storyOf({ ...flow, frames: flow.frames.slice(0, 2) }), /^No frame is lost/);
    const of = { sequence: 1 };
    const restored = [seen(2.5, "sw2-sw6", { lost: true, of }), seen(9, "sw2-sw6", { kind: "parity" }), seen(12.5, "sw6-h8", { of })];
    assert.match(storyOf({ ...flow, frames: restored }), /sw6 has the frame 10 us after the loss, from the parity frames/);
  });
});
