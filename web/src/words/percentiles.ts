// Percentiles of completion times as cells of a table, and the sentence that says what they tell.

import type { Percentile } from "../catalogue/types.ts";
import type { Flows } from "../simulator/protocol.ts";
import { digits, duration, listed, times } from "./numbers.ts";
import { intervalText, type Cell } from "./rows.ts";

/** Flows that have to be slower than a percentile before it says something. */
const FEWEST_BEYOND = 3;

/** What stands for a percentile that too few flows tell. */
export const FEW = "few";

/** A percentile under one protection. */
export interface PercentileCell extends Cell {
  /** How many times as large as without protection. */
  ratio?: string;
}

type Found = Flows["percentiles"][number];

/** The percentile of flows, if enough flows are slower. */
function known(flows: Flows, percent: number): Found | undefined {
  const found = flows.percentiles.find((one) => one.percent === percent);
  return found && found.beyond >= FEWEST_BEYOND ? found : undefined;
}

/** The cell of a percentile; `base` are the flows without protection. */
export function percentileCell(flows: Flows, percent: number, base?: Flows): PercentileCell {
  const found = known(flows, percent);
  if (!found) return { text: FEW };
  if (found.value === null) return { text: "never" };
  const cell: PercentileCell = { text: digits(found.value), interval: intervalText([found.low, found.high]) };
  const reference = base && base !== flows ? known(base, percent)?.value : undefined;
  return reference ? { ...cell, ratio: times(found.value / reference) } : cell;
}

/** Up to here a time is written in the unit of the axis and of the table. */
const MOST_US = 1e5;

function timeText(us: number): string {
  return us < MOST_US ? `${digits(us)} us` : duration(us, 4);
}

/** What the tails tell, in a sentence: at the highest percentile that all of them know. */
export function tailSentence(tails: { label: string; flows: Flows }[], percentiles: Percentile[]): string {
  const told = percentiles.filter((one) => tails.every((tail) => known(tail.flows, one.percent)));
  const percentile = told.at(-1);
  if (!percentile) return "The first flows are on their way.";
  const parts = tails.map(({ label, flows }) => {
    const value = known(flows, percentile.percent)?.value ?? null;
    return value === null ? `never with ${label}` : `within ${timeText(value)} with ${label}`;
  });
  return `${percentile.percent} % of the flows end ${listed(parts)}.`;
}
