// A legend inside a figure: line samples with their dashes and names, so that exported figures carry it.

import type * as Plot from "@observablehq/plot";
import { made } from "./svg.ts";
import { shade, type Look, type Theme } from "./theme.ts";

const SAMPLE_PX = 34;
const ROW_PX = 18;

/** A mark that draws the legend in the upper corner where the curves leave room. */
export function legend(
  series: { label: string; look: Look }[],
  theme: Theme,
  side: "left" | "right" = "right",
): Plot.RenderFunction {
  return (_index, _scales, _values, dimensions) => {
    const group = made("g", { "aria-hidden": "true" });
    const longest = Math.max(...series.map((one) => one.label.length), 1);
    const textWidth = longest * 6.6;
    const right =
      side === "right" ? dimensions.width - dimensions.marginRight - 6 : dimensions.marginLeft + textWidth + SAMPLE_PX + 18;
    group.append(
      made("rect", {
        x: right - textWidth - SAMPLE_PX - 12,
        y: dimensions.marginTop + 2,
        width: textWidth + SAMPLE_PX + 18,
        height: series.length * ROW_PX + 8,
        fill: theme.paper,
        "fill-opacity": 0.85,
      }),
    );
    for (const [place, { label, look }] of series.entries()) {
      const y = dimensions.marginTop + 16 + place * ROW_PX;
      const colour = shade(look, theme);
      const start = right - textWidth - SAMPLE_PX - 6;
      group.append(
        made("line", {
          x1: start,
          x2: start + SAMPLE_PX,
          y1: y,
          y2: y,
          stroke: colour,
          "stroke-width": 2.2,
          "stroke-dasharray": look.dash || "none",
        }),
      );
      group.append(made("text", { x: start + SAMPLE_PX + 6, y, dy: "0.32em", fill: theme.ink, stroke: "none" }, label));
    }
    return group;
  };
}
