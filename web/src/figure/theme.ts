// Colours on light and on dark paper, and the dash and the mark that go with each colour, as in lossylink.charts.

/** What a figure is drawn on. */
export interface Theme {
  isDark: boolean;
  paper: string;
  ink: string;
  soft: string;
  line: string;
}

export const LIGHT: Theme = { isDark: false, paper: "#fdfdfb", ink: "#1c1d1f", soft: "#63666a", line: "#dcdbd5" };
export const DARK: Theme = { isDark: true, paper: "#17191c", ink: "#e3e2dd", soft: "#a0a3a6", line: "#383b40" };

export type Mark = "circle" | "square" | "triangle" | "down" | "diamond" | "cross";

/** How a series is drawn. */
export interface Look {
  light: string;
  dark: string;
  /** Lengths of strokes and gaps; empty for a solid line. */
  dash: string;
  mark: Mark;
}

/** Okabe and Ito's colours by their values in the catalogue; shades for dark paper. */
const LOOKS: Record<string, Look> = {
  "#d55e00": { light: "#d55e00", dark: "#f0803c", dash: "9 2 2 2", mark: "circle" },
  "#0072b2": { light: "#0072b2", dark: "#4ba3e3", dash: "", mark: "square" },
  "#009e73": { light: "#009e73", dark: "#2bbd92", dash: "8 3", mark: "triangle" },
  "#e69f00": { light: "#e69f00", dark: "#e69f00", dash: "4 2", mark: "down" },
  "#cc79a7": { light: "#cc79a7", dark: "#de9bc0", dash: "7 2 2 2 2 2", mark: "diamond" },
  "#56b4e9": { light: "#56b4e9", dark: "#9ad4f5", dash: "5 2 2 2 2 2", mark: "cross" },
  "#f0e442": { light: "#d9c800", dark: "#f0e442", dash: "11 3", mark: "square" },
  "#000000": { light: "#2a2a2a", dark: "#e3e2dd", dash: "", mark: "diamond" },
};
/** Dashes of further series of one colour. */
const FURTHER_DASHES = ["2 2", "10 2 2 2", "6 4"];
const FURTHER_MARKS: Mark[] = ["diamond", "circle", "down", "cross"];

/** The looks of series whose colours are given: each further series of one colour has a dash and a mark of its own. */
export function looksOf(colours: string[]): Look[] {
  const seen = new Map<string, number>();
  return colours.map((colour) => {
    const slot = colour.toLowerCase();
    const before = seen.get(slot) ?? 0;
    seen.set(slot, before + 1);
    const look = LOOKS[slot] ?? { light: colour, dark: colour, dash: "", mark: "circle" as const };
    if (before === 0) return look;
    const place = (before - 1) % FURTHER_DASHES.length;
    return { ...look, dash: FURTHER_DASHES[place] ?? "", mark: FURTHER_MARKS[place] ?? "circle" };
  });
}

/** The colour of a look on the paper of a theme. */
export function shade(look: Look, theme: Theme): string {
  return theme.isDark ? look.dark : look.light;
}
