// The timeline of one flow: lanes are the hosts and switches, arrows are frames, a cross is a loss.

import { digits, duration } from "../words/numbers.ts";
import { kindLook, LOST, TELLING } from "./kinds.ts";
import type { Canvas } from "./plot.ts";
import { made } from "./svg.ts";
import type { Theme } from "./theme.ts";
import type { Arrow, Layout } from "./timeline-layout.ts";

const HEAD_PX = 26;
const TIMES_PX = 62;
/** Pixels between two written times. */
const TIME_STEP_PX = 22;
/** A lost frame comes so far. */
const LOST_SHARE = 0.6;

/** Draws a layout; frames after the step are faint, and the frame of the step stands out. */
export function drawTimeline(layout: Layout, step: number | null, { width, theme }: Canvas): SVGElement {
  const height = layout.height + HEAD_PX;
  const right = width - 26;
  const xOf = (lane: number) => TIMES_PX + ((right - TIMES_PX) * lane) / Math.max(1, layout.lanes.length - 1);
  const ordered = [...layout.arrows].sort((one, other) => weight(one, step) - weight(other, step));
  return made(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif",
      "font-size": 12,
    },
    ...lanes(layout, xOf, theme),
    made(
      "g",
      { transform: `translate(0 ${HEAD_PX})` },
      ...times(layout.arrows, theme),
      ...layout.gaps.map((gap) => gapMark(gap, xOf(0), right, theme)),
      ...ordered.map((arrow) => drawn(arrow, step, xOf, theme)),
    ),
    heads(layout, xOf, width, theme),
  );
}

/** What is drawn later lies above: frames that tell of the loss, and the frame of the step above all. */
function weight({ index, seen }: Arrow, step: number | null): number {
  if (index === step) return 2;
  return seen.lost || TELLING.includes(seen.kind) ? 1 : 0;
}

function lanes(layout: Layout, xOf: (lane: number) => number, theme: Theme): SVGElement[] {
  const [near, far] = layout.link;
  const link = made("rect", {
    x: xOf(near),
    y: HEAD_PX - 6,
    width: xOf(far) - xOf(near),
    height: layout.height + 6,
    fill: theme.isDark ? "#22272d" : "#f1f0e9",
  });
  const stroke = theme.isDark ? "#5a5e64" : "#b5b4ad";
  const lines = layout.lanes.map((_, lane) =>
    made("line", { x1: xOf(lane), x2: xOf(lane), y1: HEAD_PX - 6, y2: HEAD_PX + layout.height, stroke }),
  );
  return [link, ...lines];
}

/** The names of the lanes, which stay in sight: `data-heads` marks what moves with the scroll. */
function heads(layout: Layout, xOf: (lane: number) => number, width: number, theme: Theme): SVGElement {
  const [near, far] = layout.link;
  const middle = { y: 14, "text-anchor": "middle" };
  const link = made("text", { x: (xOf(near) + xOf(far)) / 2, ...middle, fill: theme.soft }, "the link");
  return made(
    "g",
    { "data-heads": "1" },
    made("rect", { x: 0, y: 0, width, height: HEAD_PX - 4, fill: theme.paper }),
    ...(xOf(far) - xOf(near) > 90 ? [link] : []),
    ...layout.lanes.map((name, lane) => made("text", { x: xOf(lane), ...middle, "font-weight": 600, fill: theme.ink }, name)),
  );
}

function times(shown: Arrow[], theme: Theme): SVGElement[] {
  const written: SVGElement[] = [];
  let last = -TIME_STEP_PX;
  for (const { y1, seen } of [...shown].sort((one, other) => one.y1 - other.y1)) {
    if (y1 - last < TIME_STEP_PX) continue;
    last = y1;
    const text = `${timeText(seen.at_us)}${written.length === 0 ? " us" : ""}`;
    written.push(made("text", { x: TIMES_PX - 16, y: y1, dy: "0.32em", "text-anchor": "end", fill: theme.soft, "font-size": 11 }, text));
  }
  return written;
}

/** A time with as many places as tell it from the next. */
function timeText(us: number): string {
  return us < 1000 ? digits(us, 4) : us.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

function gapMark(gap: { y: number; us: number }, left: number, right: number, theme: Theme): SVGElement {
  const words = `${duration(gap.us)} without a frame`;
  const middle = (left + right) / 2;
  return made(
    "g",
    {},
    made("rect", { x: left - 6, y: gap.y - 9, width: right - left + 12, height: 18, fill: theme.paper }),
    made("line", { x1: left - 6, x2: right + 6, y1: gap.y - 9, y2: gap.y - 9, stroke: theme.soft, "stroke-dasharray": "2 4" }),
    made("line", { x1: left - 6, x2: right + 6, y1: gap.y + 9, y2: gap.y + 9, stroke: theme.soft, "stroke-dasharray": "2 4" }),
    made("text", { x: middle, y: gap.y, dy: "0.34em", "text-anchor": "middle", fill: theme.ink, "font-size": 11 }, words),
  );
}

function drawn(arrow: Arrow, step: number | null, xOf: (lane: number) => number, theme: Theme): SVGElement {
  const { seen, index } = arrow;
  const look = kindLook(seen.kind);
  const colour = seen.lost ? pick(LOST, theme) : pick(look, theme);
  const isCurrent = index === step;
  const opacity = step === null || index <= step ? 1 : 0.16;
  const [x1, y1] = [xOf(arrow.from), arrow.y1];
  const share = seen.lost ? LOST_SHARE : 1;
  const [x2, y2] = [x1 + (xOf(arrow.to) - x1) * share, y1 + (arrow.y2 - y1) * share];
  const parts: SVGElement[] = [];
  if (isCurrent) parts.push(made("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": 9, "stroke-opacity": 0.28, "stroke-linecap": "round" }));
  parts.push(
    made("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": isCurrent ? 2.6 : 1.5, "stroke-dasharray": look.dash || "none" }),
    seen.lost ? cross(x2, y2, colour) : head(x1, y1, x2, y2, colour),
  );
  if (look.glyph) parts.push(glyph(x1 + (x2 - x1) * 0.3, y1 + (y2 - y1) * 0.3, look.glyph, colour, theme));
  return made("g", { opacity, "data-frame": index, ...(isCurrent ? { "data-current": "1" } : {}), ...(seen.lost ? { "data-lost": "1" } : {}) }, ...parts);
}

function head(x1: number, y1: number, x2: number, y2: number, colour: string): SVGElement {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const at = (turn: number, length: number) => `${x2 - length * Math.cos(angle + turn)},${y2 - length * Math.sin(angle + turn)}`;
  return made("polygon", { points: `${x2},${y2} ${at(0.4, 7)} ${at(-0.4, 7)}`, fill: colour });
}

function cross(x: number, y: number, colour: string): SVGElement {
  const arm = 6;
  const d = `M${x - arm},${y - arm}L${x + arm},${y + arm}M${x - arm},${y + arm}L${x + arm},${y - arm}`;
  return made("path", { d, stroke: colour, "stroke-width": 3, fill: "none", "stroke-linecap": "round" });
}

function glyph(x: number, y: number, letter: string, colour: string, theme: Theme): SVGElement {
  return made(
    "g",
    {},
    made("circle", { cx: x, cy: y, r: 6.5, fill: theme.paper, stroke: colour }),
    made("text", { x, y, dy: "0.36em", "text-anchor": "middle", "font-size": 9, "font-weight": 700, fill: colour }, letter),
  );
}

function pick(colours: { light: string; dark: string }, theme: Theme): string {
  return theme.isDark ? colours.dark : colours.light;
}
