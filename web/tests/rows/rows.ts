// Asks the page's own simulator for states of the page, by the page's own rules, and compares its answers with lossylink run.
// A row must be equal to the last digit.

import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "../../src/catalogue/json.ts";
import { readPick, textOf, valueOf } from "../../src/catalogue/protection.ts";
import { looksOf, resolve } from "../../src/catalogue/rules.ts";
import type { Catalogue, Values } from "../../src/catalogue/types.ts";
import { instantiate } from "../../src/simulator/glue.ts";
import { isRefusal, type Flows, type Outcome, type State, type Watched } from "../../src/simulator/protocol.ts";
import { compare, compareNearly, type Counted } from "./differences.ts";
import { carriedBy } from "./page.ts";

/** The fewest states with rows that show anything. */
const FEWEST = 50;
/** How far a percentile may be off, as a share: it is interpolated. */
const NEAR = 1e-12;

/** A state of the page, with what lossylink run says to it. */
interface Told {
  experiment: string;
  values: Values;
  /** The text of the protection. */
  protection: string;
  settings: Record<string, string>;
  /** Absent where lossylink run refuses, as it says in `refused`. */
  row?: Record<string, Json>;
  refused?: string;
  percentiles?: Flows["percentiles"];
  /** What passes when one packet is lost, instead of a row. */
  watched?: Passed;
}

/** What tshark reads in the captures of lossylink run, and what `--state-at` says. */
interface Passed {
  /** The place of the lost packet among the frames of the link. */
  position: number;
  /** Of some hops: instant in ns, octets, whether forward, whether lost. */
  hops: Record<string, [number, number, boolean, boolean][]>;
  states: State[];
}

const [, , page = "", file = ""] = process.argv;
const { catalogue, module } = carriedBy(page);
const ask = instantiate(module, () => {});
const states = JSON.parse(readFileSync(file, "utf8")) as Told[];
const counted: Counted & { rows: number; refused: number; flows: number } = { figures: 0, rows: 0, refused: 0, flows: 0 };
for (const state of states) {
  try {
    check(catalogue, state);
  } catch (problem) {
    console.error(`not equal: ${(problem as Error).message}\n  of ${JSON.stringify(state)}`);
    process.exit(1);
  }
}
if (counted.rows < FEWEST) {
  console.error(`error: ${counted.rows} rows are too few to tell; draw ${FEWEST} or more`);
  process.exit(1);
}
if (counted.flows < catalogue.protections.length) {
  console.error(`error: ${counted.flows} watched flows are fewer than the protections; draw one for each`);
  process.exit(1);
}
console.log(
  `${counted.rows} scenarios: ${counted.figures.toLocaleString("en")} figures of the page are those of lossylink run; ` +
    `${counted.refused} more are refused in the same words; ${counted.flows} watched flows have its frames and states`,
);

function check(from: Catalogue, state: Told): void {
  const { configuration, settings } = resolved(from, state);
  compare("settings", settings, state.settings, { figures: 0 });
  if (state.watched) return checkWatched(from, configuration, state, state.watched);
  const looks = looksOf(configuration);
  const answer = JSON.parse(ask(JSON.stringify({ do: "run", configuration, ...(looks && { looks }) }))) as unknown;
  if (isRefusal(answer)) {
    if (!state.refused?.includes(answer.error)) throw new Error(`the page refuses: ${answer.error}`);
    counted.refused += 1;
    return;
  }
  const { row, flows } = answer as Outcome;
  const wanted = state.row;
  if (!wanted) throw new Error(`lossylink run refuses: ${state.refused}`);
  for (const [key, value] of Object.entries(row)) compare(key, value as Json, wanted[key], counted);
  if (flows || state.percentiles) checkPercentiles(flows?.percentiles ?? [], state.percentiles ?? []);
  counted.rows += 1;
}

function resolved(from: Catalogue, state: Told): { configuration: JsonObject; settings: Record<string, string> } {
  const experiment = from.experiments[state.experiment];
  const pick = readPick(from.protections, state.protection);
  if (!experiment || typeof pick === "string") throw new Error(`${state.experiment}: ${String(pick)}`);
  const spelling = from.protections.find((one) => one.word === pick.word);
  if (!spelling) throw new Error(`no protection is called ${pick.word}`);
  compare("protection", textOf(spelling, pick), state.protection, { figures: 0 });
  return resolve(experiment, state.values, valueOf(spelling, pick));
}

function checkWatched(from: Catalogue, configuration: JsonObject, state: Told, wanted: Passed): void {
  const knob = from.experiments[state.experiment]?.lost?.knob ?? "";
  const answer = JSON.parse(ask(JSON.stringify({ do: "watch", configuration, lost: state.values[knob] }))) as Watched;
  if (isRefusal(answer)) throw new Error(`the page refuses: ${answer.error}`);
  compare("position", answer.position, wanted.position, counted);
  for (const [hop, frames] of Object.entries(wanted.hops)) {
    const told = answer.frames.filter((seen) => seen.hop === hop);
    const as = told.map(({ at_us, octets, direction, lost }) => [Math.round(at_us * 1000), octets, direction === "forward", lost]);
    compare(hop, as, frames, counted);
  }
  compare("states", answer.states as unknown as Json, wanted.states as unknown as Json, counted);
  counted.flows += 1;
}

function checkPercentiles(told: Flows["percentiles"], wanted: Flows["percentiles"]): void {
  compare("percentiles", told.length, wanted.length, { figures: 0 });
  for (const [place, one] of told.entries()) {
    const other = wanted[place] as Flows["percentiles"][number];
    const name = `p${one.percent}`;
    compareNearly(`${name}.value`, one.value, other.value, NEAR, counted);
    compare(`${name}.percent`, one.percent, other.percent, counted);
    compare(`${name}.low`, one.low, other.low, counted);
    compare(`${name}.high`, one.high, other.high, counted);
    compare(`${name}.beyond`, one.beyond, other.beyond, counted);
  }
}
