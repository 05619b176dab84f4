// A histogram of wrong symbols a codeword, as switches print it. The page draws it; `lossylink fit` estimates from it.

import { counted, digits } from "./numbers.ts";

/** Codewords with so many wrong symbols, from the least to the most of a bin. */
export interface Bin {
  low: number;
  high: number;
  codewords: number;
}

/** Bins of all tools are fewer, and no code corrects as many symbols. */
const MOST_BINS = 64;
const COUNT = String.raw`(\d{1,3}(?:,\d{3})+|\d+)`;
/** mlxlink: `Bin 2 : [2:3]  198`. */
const OF_RANGES = new RegExp(String.raw`^\s*bin\s*\d+\s*:\s*\[(\d+)(?::(\d+))?\]\s+${COUNT}\s*$`, "i");
/** SONiC: `BIN3  88`; ethtool: `fec_symbols_err_2_to_3: 198`; CSV: `3,88` and `4-7,2`. */
const PLAIN = new RegExp(
  String.raw`^\s*(?:\w*?(?:bin|err|hist)[_ ]?)?(\d+)(?:(?::|\s*(?:-|_to_|to)\s*)(\d+))?(?:\s*[:=,;]\s*|\s+)${COUNT}(?:\s*\[.*)?\s*$`,
  "i",
);
/** A line that means to be a bin. */
const MEANT = /^\s*(?:\w*(?:bin|symbols?_err|hist)[_ ]?)?\d/i;

/** Reads the bins of a text, or says in a line what is wrong with it. Other lines, such as headers, are passed over. */
export function readHistogram(text: string): { bins: Bin[] } | { problem: string } {
  const bins: Bin[] = [];
  for (const [place, line] of text.split(/\r?\n/).entries()) {
    const found = OF_RANGES.exec(line) ?? PLAIN.exec(line);
    if (found) bins.push(binOf(found));
    else if (MEANT.test(line)) return { problem: `line ${place + 1} is no bin with a count: ${line.trim().slice(0, 40)}` };
  }
  const problem = problemOf(bins);
  return problem ? { problem } : { bins };
}

function binOf([, low, high, codewords]: RegExpExecArray): Bin {
  return { low: Number(low), high: Number(high ?? low), codewords: Number(String(codewords).replaceAll(",", "")) };
}

function problemOf(bins: Bin[]): string | undefined {
  const [first] = bins;
  if (!first) return "the text has no bins; paste lines with a bin and a count, such as BIN0 99994686";
  if (bins.length > MOST_BINS) return `the text has ${bins.length} bins; a histogram has ${MOST_BINS} at most`;
  if (first.low !== 0) return `the histogram begins at ${binName(first)}; bin 0, the codewords without an error, is missing`;
  for (const [place, bin] of bins.entries()) {
    const before = bins[place - 1];
    if (bin.high < bin.low) return `${binName(bin)} ends before it begins`;
    if (before && bin.low !== before.high + 1) {
      return `${binName(bin)} follows ${binName(before)}; give each bin once and in order, 0 if it is empty`;
    }
  }
  return bins.every((bin) => bin.codewords === 0) ? "every bin is 0; count for longer, on a line that is up" : undefined;
}

/** Why a histogram is none of a code that corrects so many symbols. */
export function otherCode(bins: Bin[], corrects: number, code: string): string | undefined {
  const beyond = bins.find((bin) => bin.codewords > 0 && bin.low > corrects + 1);
  if (!beyond) return undefined;
  return `${binName(beyond)} holds ${counted(beyond.codewords, "codeword")}, and ${code} corrects ${corrects} symbols; take the code of the line`;
}

/** The bins up to those with too many wrong symbols, as the code has them; bins beyond are empty. */
export function withinCode(bins: Bin[], corrects: number): Bin[] {
  return bins.filter((bin) => bin.low <= corrects + 1);
}

/** The name of a bin: `bin 3`, `bin 4-7`. */
export function binName(bin: Bin): string {
  return `bin ${binLabel(bin)}`;
}

/** The numbers of a bin: `3`, `4-7`. */
export function binLabel({ low, high }: Bin): string {
  return low === high ? `${low}` : `${low}-${high}`;
}

/** All codewords of a histogram. */
export function codewordsOf(bins: Bin[]): number {
  return bins.reduce((sum, bin) => sum + bin.codewords, 0);
}

/** The mean of wrong symbols: the least and the most that the bins allow. */
export function meanOf(bins: Bin[]): [number, number] {
  const all = codewordsOf(bins);
  const sum = (of: (bin: Bin) => number) => bins.reduce((total, bin) => total + of(bin) * bin.codewords, 0) / all;
  return [sum((bin) => bin.low), sum((bin) => bin.high)];
}

/** A mean in words. */
export function meanText([low, high]: [number, number]): string {
  return low === high ? digits(low, 3) : `${digits(low, 3)} to ${digits(high, 3)}`;
}

/** What a code makes of a line: shares of codewords in each bin; without bins, in each number of wrong symbols. */
export function sharesIn(bins: Bin[], shares: number[]): number[] {
  return bins.map(({ low, high }) => shares.slice(low, Math.min(high, shares.length - 1) + 1).reduce((sum, share) => sum + share, 0));
}

/** Bins of a code: one for each number of wrong symbols, and the last for more than it corrects. */
export function binsOf(shares: number[]): Bin[] {
  return shares.map((_, low) => ({ low, high: low, codewords: 0 }));
}

/** The file that `lossylink fit --fec-histogram` reads. */
export function histogramFile(bins: Bin[]): string {
  return `bin,count\n${bins.map((bin) => `${binLabel(bin)},${bin.codewords}`).join("\n")}\n`;
}

/** A histogram of RS(544,514) as SONiC prints it. It is made up: a line that errs in short bursts. */
export const EXAMPLE = `Symbol Errors Per Codeword      Codewords
----------------------------  -----------
${[1601417281, 558088963, 149089172, 29411407, 4985985, 730818, 96615, 11601, 1340, 143, 14, 1, 0, 0, 0, 0]
  .map((codewords, bin) => `BIN${bin}`.padEnd(26) + `${codewords}`.padStart(15))
  .join("\n")}
`;
