// The pieces of Observable Plot that the figures use, with the look that all figures share.

import * as Plot from "@observablehq/plot";
import type { Mark, Theme } from "./theme.ts";

/** Where and how large a figure is drawn. */
export interface Canvas {
  width: number;
  theme: Theme;
}

/** Below this width a figure leaves out what a phone has no room for. */
export const NARROW_PX = 520;

/** Options that all figures share. */
export function shared({ width, theme }: Canvas, height: number): Plot.PlotOptions {
  return {
    width,
    height,
    style: {
      background: "transparent",
      color: theme.ink,
      fontFamily: "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif",
      fontSize: "12px",
      overflow: "visible",
    },
  };
}

/** The grid of both axes; on a logarithmic axis at its ticks alone. */
export function grid(theme: Theme, ticks: { x?: number[]; y?: number[] } = {}): Plot.Markish[] {
  const look = { stroke: theme.line, strokeOpacity: 1 };
  return [Plot.gridX({ ...look, ...(ticks.x ? { ticks: ticks.x } : {}) }), Plot.gridY({ ...look, ...(ticks.y ? { ticks: ticks.y } : {}) })];
}

/** The ticks of a logarithmic axis: powers of ten, fewer where a narrow figure has no room for all. */
export function decades(low: number, high: number, most = 8): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
  return powers.filter((power) => (power - last) % step === 0).map((power) => Number(`1e${power}`));
}

/** Marks 1, 2 and 5 of each decade, for an axis that spans few decades. */
export function fineTicks(low: number, high: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const first of [1, 2, 5]) {
      const tick = Number(`${first}e${power}`);
      if (tick >= low && tick <= high) found.push(tick);
    }
  }
  return found;
}

/** The symbol of a mark; a triangle that points down is drawn by hand. */
export function symbolOf(mark: Mark): Plot.SymbolType {
  const symbols = { circle: "circle", square: "square", triangle: "triangle", diamond: "diamond", cross: "cross" } as const;
  return mark === "down" ? DOWN : symbols[mark];
}

const DOWN: Plot.SymbolType = {
  draw(context: CanvasPath, size: number) {
    const half = Math.sqrt(size / (3 * Math.sqrt(3)));
    context.moveTo(0, half * 2);
    context.lineTo(-Math.sqrt(3) * half, -half);
    context.lineTo(Math.sqrt(3) * half, -half);
    context.closePath();
  },
};
