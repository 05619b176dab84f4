// Wrong symbols of codewords: bars of what a switch counted, points of what the line of the knobs makes of them.

import * as Plot from "@observablehq/plot";
import { binLabel, type Bin } from "../words/histogram.ts";
import { digits } from "../words/numbers.ts";
import { legend } from "./legend.ts";
import { decades, grid, NARROW_PX, shared, symbolOf, type Canvas } from "./plot.ts";
import { shade, type Look } from "./theme.ts";

export interface SymbolShares {
  bins: Bin[];
  /** Shares of the codewords that were counted; none where nothing was pasted. */
  counted: number[] | undefined;
  /** Shares of the model. */
  model: number[];
  /** Codewords that were counted. */
  codewords: number;
  /** Wrong symbols that the code corrects. */
  corrects: number;
}

export const COUNTED: Look = { light: "#b3c8d6", dark: "#3d586b", dash: "", mark: "square" };
export const MODEL: Look = { light: "#0072b2", dark: "#4ba3e3", dash: "", mark: "circle" };

/** Smaller shares of the model are not drawn where nothing was counted. */
const LEAST_SHARE = 1e-16;
/** A bar or a point, in words. */
interface Told {
  bin: string;
  share: number;
  words: string;
}

/** Draws the shares of both on a logarithmic axis. */
export function drawSymbols(shares: SymbolShares, canvas: Canvas): SVGElement {
  const { theme, width } = canvas;
  const isNarrow = width < NARROW_PX;
  const { bins, counted, model, corrects } = shares;
  const series = [{ label: "line of the knobs", look: MODEL, sample: "mark" as const }];
  const bars = counted ? [{ label: "counted by the switch", look: COUNTED, sample: "box" as const }] : [];
  const key = legend([...bars, ...series], "share of codewords", canvas);
  const low = floorOf(shares);
  const every = isNarrow && bins.length > 9 ? 3 : 1;
  const labels = bins.map((bin) => (bin.low > corrects ? "more" : binLabel(bin)));
  const told = (values: number[], of: string): Told[] =>
    values.map((share, place) => ({
      bin: labels[place] ?? "",
      share,
      words: `${of}\n${digits(share, 3)} of the codewords have ${labels[place]} wrong symbols`,
    }));
  const points = told(model, "line of the knobs").filter(({ share }) => share >= low);
  const drawn = told(counted ?? [], "counted by the switch").filter(({ share }) => share > 0);
  const ticks = decades(low, 1);
  return Plot.plot({
    ...shared(canvas, (isNarrow ? 240 : 300) + key.marginTop),
    marginLeft: 52,
    marginRight: 20,
    marginBottom: 40,
    marginTop: key.marginTop,
    x: { type: "band", domain: labels, label: "wrong symbols of a codeword →", padding: 0.15, tickFormat: (label: string, place: number) => (place % every === 0 ? label : "") },
    y: { type: "log", domain: [low, 1], label: null, ticks, tickFormat: (value: number) => digits(value) },
    marks: [
      grid(theme, { y: ticks })[1],
      Plot.barY(drawn, { x: "bin", y1: low, y2: "share", fill: shade(COUNTED, theme) }),
      Plot.ruleY([low], { stroke: theme.soft }),
      Plot.line(points, { x: "bin", y: "share", stroke: shade(MODEL, theme), strokeWidth: 1.4, strokeOpacity: 0.7 }),
      Plot.dot(points, { x: "bin", y: "share", symbol: symbolOf(MODEL.mark), fill: shade(MODEL, theme), stroke: theme.paper, r: 4.5 }),
      key.mark,
      Plot.tip([...drawn, ...points], Plot.pointer({ x: "bin", y: "share", title: "words", fill: theme.paper, stroke: theme.line })),
    ],
  }) as SVGElement;
}

/** The foot of the bars: below one codeword of all that were counted. */
function floorOf({ counted, model, codewords }: SymbolShares): number {
  if (counted) return 10 ** Math.floor(Math.log10(0.5 / codewords));
  const least = Math.max(LEAST_SHARE, Math.min(...model.filter((share) => share > 0), 0.1));
  return 10 ** Math.floor(Math.log10(least * 0.99));
}
