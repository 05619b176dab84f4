// A legend above the plot, inside the figure: line samples with their dashes and names, so that files carry it too.

import type * as Plot from "@observablehq/plot";
import type { Canvas } from "./plot.ts";
import { made } from "./svg.ts";
import { shade, type Look } from "./theme.ts";

const SAMPLE_PX = 32;
const ROW_PX = 18;
/** Room between a sample and its name, and between two series. */
const GAP_PX = 6;
const BETWEEN_PX = 20;
/** Width of a letter of 12 pixels, on average. */
const LETTER_PX = 6.6;
/** Room for the name of the axis below the legend. */
const AXIS_PX = 26;

interface Entry {
  label: string;
  look: Look;
}

/** The margin that a legend and the name of the vertical axis need above the plot, and the mark that draws both. */
export function legend(series: Entry[], axis: string, { width, theme }: Canvas): { marginTop: number; mark: Plot.RenderFunction } {
  const placed = placedIn(series, width);
  const rows = Math.max(1, ...placed.map(({ row }) => row + 1));
  const mark: Plot.RenderFunction = () =>
    made(
      "g",
      { "aria-hidden": "true", "text-anchor": "start", stroke: "none" },
      made("text", { x: 2, y: rows * ROW_PX + 10, dy: "0.34em", fill: theme.ink }, `↑ ${axis}`),
      ...placed.flatMap(({ label, look, x, row }) => {
        const y = 9 + row * ROW_PX;
        return [
          made("line", {
            x1: x,
            x2: x + SAMPLE_PX,
            y1: y,
            y2: y,
            stroke: shade(look, theme),
            "stroke-width": 2.2,
            "stroke-dasharray": look.dash || "none",
          }),
          made("text", { x: x + SAMPLE_PX + GAP_PX, y, dy: "0.34em", fill: theme.ink }, label),
        ];
      }),
    );
  return { marginTop: rows * ROW_PX + AXIS_PX, mark };
}

/** Places of the entries: from left to right, in as many rows as the width asks for. */
export function placedIn(series: Entry[], width: number): (Entry & { x: number; row: number })[] {
  let [x, row] = [2, 0];
  return series.map((entry) => {
    const needed = SAMPLE_PX + GAP_PX + entry.label.length * LETTER_PX;
    if (x > 2 && x + needed > width) [x, row] = [2, row + 1];
    const place = { ...entry, x, row };
    x += needed + BETWEEN_PX;
    return place;
  });
}
