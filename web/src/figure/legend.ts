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
  /** A line, where nothing else is said. */
  sample?: "line" | "box" | "mark";
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
      ...placed.flatMap(({ label, look, sample, x, row }) => {
        const y = 9 + row * ROW_PX;
        return [
          sampleOf(sample ?? "line", x, y, shade(look, theme), look.dash),
          made("text", { x: x + SAMPLE_PX + GAP_PX, y, dy: "0.34em", fill: theme.ink }, label),
        ];
      }),
    );
  return { marginTop: rows * ROW_PX + AXIS_PX, mark };
}

function sampleOf(sample: "line" | "box" | "mark", x: number, y: number, colour: string, dash: string): SVGElement {
  if (sample === "box") return made("rect", { x, y: y - 6, width: SAMPLE_PX, height: 12, fill: colour });
  if (sample === "mark") return made("circle", { cx: x + SAMPLE_PX / 2, cy: y, r: 4.5, fill: colour });
  const ends = { x1: x, x2: x + SAMPLE_PX, y1: y, y2: y };
  return made("line", { ...ends, stroke: colour, "stroke-width": 2.2, "stroke-dasharray": dash || "none" });
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
