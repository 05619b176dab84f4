// A quantity that changes at events: steps over days, thinned to what a picture can show.

import * as Plot from "@observablehq/plot";
import { digits } from "../words/numbers.ts";
import { legend } from "./legend.ts";
import { decades, grid, NARROW_PX, shared, type Canvas } from "./plot.ts";
import { shade, type Look } from "./theme.ts";

/** The steps under one protection. */
export interface Steps {
  label: string;
  look: Look;
  /** Days and values. */
  points: [number, number][];
}

interface Options {
  label: string;
  isLog: boolean;
}

/** Room above and below a quantity that does not change, in its unit. */
const LEAST_ROOM = 0.5;
/** A logarithmic axis leaves out as many of the least values, so that the others have room. */
const RARE = 0.01;

const WIDTH_PX = 1.4;
/** Of steps that later ones cover. */
const COVERED_PX = 3.2;

/** Whether later steps hide most of these. */
function isCovered(steps: Steps, later: Steps[]): boolean {
  const values = new Map(steps.points);
  return later.some(({ points }) => points.filter(([day, value]) => values.get(day) === value).length > points.length / 2);
}

/** Draws one quantity of all protections. */
export function drawSteps(all: Steps[], { label, isLog }: Options, canvas: Canvas): SVGElement {
  const { theme, width } = canvas;
  const key = legend(all.map((steps) => ({ label: steps.label, look: { ...steps.look, dash: "" } })), label, canvas);
  const drawn = all.map((steps) => ({
    ...steps,
    points: thinned(isLog ? steps.points.filter(([, value]) => value > 0) : steps.points, width),
  }));
  const values = drawn.flatMap(({ points }) => points.map(([, value]) => value));
  const days = drawn.flatMap(({ points }) => points.map(([day]) => day));
  const domain = isLog ? logDomain(values) : linearDomain(values);
  const powers = isLog ? decades(...domain, 6) : [];
  return Plot.plot({
    ...shared(canvas, (width < NARROW_PX ? 210 : 250) + key.marginTop),
    marginLeft: 52,
    marginRight: 20,
    marginBottom: 40,
    marginTop: key.marginTop,
    x: { label: "time (days) →", domain: days.length > 0 ? [Math.min(...days), Math.max(...days)] : [0, 1] },
    y: {
      type: isLog ? "log" : "linear",
      domain,
      label: null,
      ...(isLog ? { ticks: powers, tickFormat: (value: number) => digits(value) } : { ticks: 5 }),
    },
    marks: [
      ...grid(theme, isLog ? { y: powers } : {}),
      ...drawn.map((steps, place) =>
        Plot.line(steps.points, {
          x: (point: [number, number]) => point[0],
          y: (point: [number, number]) => point[1],
          curve: "step-after",
          stroke: shade(steps.look, theme),
          strokeWidth: isCovered(steps, drawn.slice(place + 1)) ? COVERED_PX : WIDTH_PX,
          clip: true,
        }),
      ),
      key.mark,
    ],
  }) as SVGElement;
}

/** Keeps the least and the greatest value of each column of a picture, in the order of time. */
export function thinned(points: [number, number][], columns: number): [number, number][] {
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
  if (points.length <= columns * 2) return points;
  const kept: [number, number][] = [];
  let least: [number, number] | undefined;
  let greatest: [number, number] | undefined;
  let column = -1;
  const flush = () => {
    if (!least || !greatest) return;
    kept.push(...(least === greatest ? [least] : [least, greatest].sort((one, other) => one[0] - other[0])));
  };
  for (const point of points) {
    const here = Math.floor(((point[0] - first) / (last - first || 1)) * columns);
    if (here !== column) {
      flush();
      [column, least, greatest] = [here, point, point];
    }
    if (least && point[1] < least[1]) least = point;
    if (greatest && point[1] > greatest[1]) greatest = point;
  }
  flush();
  return kept;
}

function logDomain(values: number[]): [number, number] {
  if (values.length === 0) return [1e-6, 1];
  const ordered = [...values].sort((one, other) => one - other);
  const low = ordered[Math.floor(ordered.length * RARE)] ?? 1e-6;
  const high = ordered.at(-1) ?? 1;
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
}

function linearDomain(values: number[]): [number, number] {
  if (values.length === 0) return [0, 100];
  const low = values.reduce((one, other) => Math.min(one, other));
  const high = values.reduce((one, other) => Math.max(one, other));
  const room = Math.max((high - low) * 0.06, LEAST_ROOM);
  return [low - room, high + room];
}
