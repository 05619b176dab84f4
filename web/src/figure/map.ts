// The map of winners: which protection to take at each loss and rate.

import type { Cell } from "../catalogue/plan.ts";
import type { ChoiceKnob } from "../catalogue/types.ts";
import { NARROW_PX, type Canvas } from "./plot.ts";
import { made } from "./svg.ts";
import { shade, type Look } from "./theme.ts";

export interface MapOf {
  x: ChoiceKnob;
  y: ChoiceKnob;
  cells: Cell[];
  /** The cell of the state. */
  current: { x: string; y: string };
  /** How a winner looks. */
  lookOf: (protection: string) => Look;
}

const LEFT_PX = 58;
const BOTTOM_PX = 44;
/** Heights of a row, which has room for two lines, and on a phone for a finger. */
const ROW_PX = 28;
const NARROW_ROW_PX = 34;
/** Between two lines of a cell. */
const LINE_PX = 12;
/** Width of a letter, of the smaller letters on a phone. */
const LETTER_PX = 6.7;
const NARROW_LETTER_PX = 6.1;
const NOBODY = "no protection";

/** Narrower cells have no room for a name: then the knob with more choices goes downwards. */
const LEAST_CELL_PX = 96;

/** Draws the map; each cell carries its place among the cells as `data-place`. */
export function drawMap(map: MapOf, canvas: Canvas): SVGElement {
  const { x, y, cells, current, lookOf } = turned(map, canvas.width);
  const { width, theme } = canvas;
  const row = width < NARROW_PX ? NARROW_ROW_PX : ROW_PX;
  const across = (width - LEFT_PX - 4) / x.choices.length;
  const height = y.choices.length * row + BOTTOM_PX;
  const foot = y.choices.length * row;
  const columnOf = (value: string) => x.choices.findIndex((choice) => choice.value === value);
  const rowOf = (value: string) => y.choices.length - 1 - y.choices.findIndex((choice) => choice.value === value);
  const letter = width < NARROW_PX ? NARROW_LETTER_PX : LETTER_PX;
  const isCurrent = (cell: { x: string; y: string }) => cell.x === current.x && cell.y === current.y;
  const ordered = [...cells].sort((one, other) => Number(isCurrent(one)) - Number(isCurrent(other)));
  const drawn = ordered.map((cell) => {
    const [left, top] = [LEFT_PX + columnOf(cell.x) * across, rowOf(cell.y) * row];
    const winner = cell.entry?.winner ?? null;
    const colour = winner === null ? theme.soft : shade(lookOf(winner), theme);
    return made(
      "g",
      { "data-place": cell.place, cursor: "pointer" },
      made("rect", { x: left + 1, y: top + 1, width: across - 2, height: row - 2, fill: theme.paper }),
      made("rect", {
        x: left + 1,
        y: top + 1,
        width: across - 2,
        height: row - 2,
        fill: colour,
        "fill-opacity": winner === null ? 0.08 : 0.24,
        ...(isCurrent(cell) ? { stroke: theme.ink, "stroke-width": 2 } : {}),
      }),
      made("rect", { x: left + 1, y: top + 1, width: 4, height: row - 2, fill: colour }),
      label(winner ?? NOBODY, left + across / 2 + 2, top + row / 2, Math.floor((across - 9) / letter), theme.ink),
    );
  });
  const axis = { fill: theme.soft, "font-size": 12 };
  return made(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif",
      "font-size": width < NARROW_PX ? 11 : 12,
    },
    ...drawn,
    ...y.choices.map((choice) =>
      made("text", { x: LEFT_PX - 8, y: rowOf(choice.value) * row + row / 2, dy: "0.34em", "text-anchor": "end", ...axis }, choice.label),
    ),
    ...x.choices.map((choice) =>
      made("text", { x: LEFT_PX + (columnOf(choice.value) + 0.5) * across, y: foot + 16, "text-anchor": "middle", ...axis }, choice.label),
    ),
    made("text", { x: width - 6, y: foot + 36, "text-anchor": "end", ...axis }, `${named(x)} →`),
    made("text", { x: 4, y: foot + 36, ...axis }, `↑ ${named(y)}`),
  );
}

/** The map as it fits into a width: its axes may change places. */
function turned({ x, y, cells, current, lookOf }: MapOf, width: number) {
  const placed = cells.map((cell, place) => ({ ...cell, place }));
  if ((width - LEFT_PX) / x.choices.length >= LEAST_CELL_PX || x.choices.length <= y.choices.length) {
    return { x, y, cells: placed, current, lookOf };
  }
  const other = ({ x: one, y: two }: { x: string; y: string }) => ({ x: two, y: one });
  return { x: y, y: x, cells: placed.map((cell) => ({ ...cell, ...other(cell) })), current: other(current), lookOf };
}

/** The name of an axis with its unit. */
function named({ label, unit }: ChoiceKnob): string {
  return unit ? `${label} (${unit})` : label;
}

/** A label in a cell: on two lines, or without its options, where it has no room. */
function label(text: string, x: number, y: number, most: number, ink: string): SVGElement {
  const [word = "", rest] = text.includes(":") ? text.split(/:(.*)/s) : [text];
  const fits = (one: string) => one.length <= most;
  const lines = fits(text) ? [text] : rest && fits(rest) ? [word, rest] : [word];
  const first = y - ((lines.length - 1) * LINE_PX) / 2;
  return made(
    "text",
    { "text-anchor": "middle", fill: ink },
    ...lines.map((line, place) => made("tspan", { x, y: first + place * LINE_PX, dy: "0.34em" }, line)),
  );
}
