// The cliff behind the code of a line: share of frames lost over the bit error ratio.

import * as Plot from "@observablehq/plot";
import { digits } from "../words/numbers.ts";
import { legend } from "./legend.ts";
import { decades, grid, NARROW_PX, shared, type Canvas } from "./plot.ts";
import { shade, type Look } from "./theme.ts";

/** The losses behind one code. */
export interface Cliff {
  label: string;
  look: Look;
  /** Bit error ratio and share of frames lost. */
  points: [number, number][];
}

/** Losses below are drawn no more: a link of 100 Gb/s loses such a frame once in hours. */
const LEAST_LOSS = 1e-12;

/** Draws the cliffs of codes, and where the line stands. */
export function drawCliffs(cliffs: Cliff[], current: { ber: number; loss: number | undefined }, canvas: Canvas): SVGElement {
  const { theme, width } = canvas;
  const key = legend(cliffs, "share of frames lost", canvas);
  const all = cliffs.flatMap((cliff) => cliff.points.map(([ber, loss]) => ({ ber, loss, label: cliff.label })));
  const bers = all.map((point) => point.ber);
  const domain: [number, number] = bers.length > 0 ? [Math.min(...bers), Math.max(...bers)] : [1e-8, 1e-2];
  const ticks = { x: decades(...domain), y: decades(LEAST_LOSS, 1) };
  return Plot.plot({
    ...shared(canvas, (width < NARROW_PX ? 280 : 370) + key.marginTop),
    marginLeft: 52,
    marginRight: 20,
    marginBottom: 40,
    marginTop: key.marginTop,
    x: {
      type: "log",
      domain,
      label: "bit error ratio before the code →",
      ticks: ticks.x,
      tickFormat: (value: number) => digits(value),
    },
    y: {
      type: "log",
      domain: [LEAST_LOSS, 1],
      label: null,
      ticks: ticks.y,
      tickFormat: (value: number) => digits(value),
    },
    marks: [
      ...grid(theme, ticks),
      Plot.ruleX([current.ber], { stroke: theme.ink, strokeDasharray: "2 3" }),
      ...cliffs.map((cliff) =>
        Plot.line(
          cliff.points.filter(([, loss]) => loss > LEAST_LOSS / 1e6),
          {
            x: (point: [number, number]) => point[0],
            y: (point: [number, number]) => point[1],
            stroke: shade(cliff.look, theme),
            strokeWidth: 2.2,
            ...(cliff.look.dash ? { strokeDasharray: cliff.look.dash } : {}),
            clip: true,
          },
        ),
      ),
      ...(current.loss !== undefined && current.loss >= LEAST_LOSS
        ? [Plot.dot([current], { x: "ber", y: "loss", r: 5, fill: theme.ink, stroke: theme.paper })]
        : []),
      key.mark,
      Plot.tip(
        all.filter((point) => point.loss >= LEAST_LOSS),
        Plot.pointer({
          x: "ber",
          y: "loss",
          title: (point: { ber: number; loss: number; label: string }) =>
            `${point.label}\nbit error ratio ${digits(point.ber, 3)}: ${digits(point.loss, 3)} of the frames are lost`,
          fill: theme.paper,
          stroke: theme.line,
        }),
      ),
    ],
  }) as SVGElement;
}

/** The bit error ratio at which a code loses this share of the frames, between the points that are known. */
export function berAt(points: [number, number][], loss: number): number | undefined {
  for (const [place, [ber, lost]] of points.entries()) {
    const before = points[place - 1];
    if (lost < loss || !before) continue;
    const [berBefore, lostBefore] = before;
    if (lostBefore <= 0 || lostBefore >= loss) return undefined;
    const share = Math.log(loss / lostBefore) / Math.log(lost / lostBefore);
    return berBefore * (ber / berBefore) ** share;
  }
  return undefined;
}

/** Bit error ratios from the least to the greatest, evenly on a logarithmic scale. */
export function berGrid(min: number, max: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => min * (max / min) ** (place / (count - 1)));
}
