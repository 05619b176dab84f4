// The tail: share of flows at least as slow over completion time, on two logarithmic axes.

import * as Plot from "@observablehq/plot";
import type { Percentile } from "../catalogue/types.ts";
import type { Flows } from "../simulator/protocol.ts";
import { digits } from "../words/numbers.ts";
import { legend } from "./legend.ts";
import { decades, fineTicks, grid, NARROW_PX, shared, symbolOf, type Canvas } from "./plot.ts";
import { shade, type Look } from "./theme.ts";

/** The completion times under one protection. */
export interface Tail {
  label: string;
  look: Look;
  flows: Flows;
}

interface Point {
  us: number;
  share: number;
  label: string;
}

/** Draws the curves, the percentiles on them, and their intervals. */
export function drawTail(tails: Tail[], percentiles: Percentile[], canvas: Canvas): SVGElement {
  const { theme, width } = canvas;
  const isNarrow = width < NARROW_PX;
  const key = legend(tails, "share of flows at least as slow", canvas);
  const points = tails.map((tail) => pointsOf(tail));
  const [low, high] = ends(points.flat().map((point) => point.us));
  const least = Math.min(...points.flat().map((point) => point.share), 0.01);
  const guides = percentiles.filter((one) => 1 - one.percent / 100 >= least * 0.99);
  const ticks = { x: high / low > 300 ? decades(low, high) : fineTicks(low, high), y: decades(least, 1) };
  return Plot.plot({
    ...shared(canvas, (isNarrow ? 280 : 370) + key.marginTop),
    marginLeft: 52,
    marginRight: 54,
    marginBottom: 40,
    marginTop: key.marginTop,
    x: {
      type: "log",
      domain: [low, high],
      label: "flow completion time (us) →",
      ticks: ticks.x,
      tickFormat: (value: number) => digits(value),
    },
    y: {
      type: "log",
      domain: [least, 1],
      label: null,
      ticks: ticks.y,
      tickFormat: (value: number) => digits(value),
    },
    ariaLabel: "completion times",
    marks: [
      ...grid(theme, ticks),
      Plot.ruleY(guides, { y: shareOf, stroke: theme.soft, strokeOpacity: 0.45, strokeDasharray: "1 3" }),
      Plot.text(guides, {
        y: shareOf,
        text: "label",
        frameAnchor: "right",
        textAnchor: "start",
        dx: 5,
        fill: theme.soft,
      }),
      ...solidFirst(tails).flatMap(([tail, place]) => marksOf(tail, points[place] ?? [], guides, canvas)),
      key.mark,
      Plot.tip(
        points.flat(),
        Plot.pointer({
          x: "us",
          y: "share",
          title: (point: Point) => `${point.label}\n${digits(point.share, 3)} of flows take ${digits(point.us)} us or longer`,
          fill: theme.paper,
          stroke: theme.line,
        }),
      ),
    ],
  }) as SVGElement;
}

/** A dashed curve above a solid one on the same values hides neither. */
function solidFirst(tails: Tail[]): [Tail, number][] {
  const placed = tails.map((tail, place): [Tail, number] => [tail, place]);
  return placed.sort(([one], [other]) => Number(one.look.dash !== "") - Number(other.look.dash !== ""));
}

function marksOf(tail: Tail, points: Point[], guides: Percentile[], { theme }: Canvas): Plot.Markish[] {
  const colour = shade(tail.look, theme);
  const known = tail.flows.percentiles.filter(
    (one) => one.value !== null && guides.some((guide) => guide.percent === one.percent),
  );
  const share = (one: { percent: number }) => 1 - one.percent / 100;
  return [
    Plot.line(points, {
      x: "us",
      y: "share",
      curve: "step-after",
      stroke: colour,
      strokeWidth: tail.look.dash ? 2 : 2.8,
      ...(tail.look.dash ? { strokeDasharray: tail.look.dash } : {}),
      clip: true,
    }),
    Plot.ruleY(
      known.filter((one) => one.high !== null),
      { y: share, x1: "low", x2: "high", stroke: colour, strokeWidth: 5, strokeOpacity: 0.35, clip: true },
    ),
    Plot.dot(known, { x: "value", y: share, symbol: symbolOf(tail.look.mark), fill: colour, r: 4, clip: true }),
  ];
}

function pointsOf(tail: Tail): Point[] {
  return tail.flows.curve.flatMap(([share, us]) =>
    us === null || us <= 0 || share <= 0 ? [] : [{ share, us, label: tail.label }],
  );
}

function shareOf(one: Percentile): number {
  return 1 - one.percent / 100;
}

function ends(values: number[]): [number, number] {
  if (values.length === 0) return [1, 1000];
  const low = Math.min(...values);
  const high = Math.max(...values);
  return [low / 1.05, Math.max(high * 1.08, low * 2)];
}

/** The curves as comma-separated values. */
export function tailRows(tails: Tail[]): (string | number | null)[][] {
  return [
    ["protection", "flow_share_at_least_as_slow", "fct_us", "flows"],
    ...tails.flatMap((tail) => tail.flows.curve.map(([share, us]) => [tail.label, share, us, tail.flows.count])),
  ];
}
