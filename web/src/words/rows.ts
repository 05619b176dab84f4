// Figures of a row as a reader reads them: with their intervals, and with words where there is no number.

import { digits, ratio } from "./numbers.ts";

/** A cell of a table. */
export interface Cell {
  text: string;
  /** The interval at 95 %. */
  interval?: string;
}

/** The cell of a key: a loss of which none was seen shows the upper end of its interval. */
export function cellOf(row: Record<string, unknown>, key: string): Cell {
  const value = row[key];
  const ends = intervalOf(row, key);
  if (value === null || value === undefined) return { text: "-" };
  if (typeof value === "string") return { text: value };
  if (typeof value === "boolean") return { text: value ? "yes" : "no" };
  if (Array.isArray(value)) return { text: value.map((part) => (typeof part === "number" ? digits(part) : "-")).join(" to ") };
  if (typeof value !== "number") return { text: "-" };
  if (!ends) return { text: digits(value) };
  if (value === 0 && ends[1] !== null) return { text: `< ${ratio(ends[1])}` };
  return { text: digits(value, 3), interval: intervalText(ends) };
}

/** The interval of a key, by the name that the data dictionary gives it. */
function intervalOf(row: Record<string, unknown>, key: string): [number, number | null] | undefined {
  for (const name of [`${key}_ci95`, `${key.replace(/_rate$/, "")}_ci95`]) {
    const found = row[name];
    if (Array.isArray(found) && typeof found[0] === "number") {
      return [found[0], typeof found[1] === "number" ? found[1] : null];
    }
  }
  return undefined;
}

/** An interval, whose upper end may be unknown. */
export function intervalText([low, high]: [number, number | null]): string {
  return high === null ? `${digits(low, 3)} or more` : `${digits(low, 3)} to ${digits(high, 3)}`;
}
