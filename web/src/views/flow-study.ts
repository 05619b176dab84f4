// The study of a view with flows: a first look at every protection, then the other experiments, then the later looks.

import type { Repeated } from "../catalogue/repeat.ts";
import { experimentsOf, looksOf, resolve } from "../catalogue/rules.ts";
import type { Catalogue, Experiment, Values, View } from "../catalogue/types.ts";
import type { Job } from "../simulator/crew.ts";
import type { Picked } from "./props.ts";

/** Looks up to here come first, for all protections. */
const EARLY_FLOWS = 3000;

/** An experiment of a view, with the looks at its flows, if it has flows. */
export interface Part {
  name: string;
  experiment: Experiment;
  looks: number[] | undefined;
}

/** The experiments of a view in a state. */
export function partsOf(catalogue: Catalogue, view: View, values: Values): Part[] {
  return experimentsOf(view, catalogue.experiments, values).map(([name, experiment]) => ({
    name,
    experiment,
    looks: looksOf(resolve(experiment, values).configuration),
  }));
}

/** The jobs of parts under protections, in the order in which readers want their answers. */
export function jobsOf(parts: Part[], picked: Picked[], values: Values): Job[] {
  const early: Job[] = [];
  const middle: Job[] = [];
  const late: Job[] = [];
  for (const { name, experiment, looks } of parts) {
    for (const { text, value } of picked) {
      const key = keyOf(name, text);
      const { configuration } = resolve(experiment, values, value);
      const add = (jobs: Job[], some: number[]) =>
        some.length > 0 && jobs.push({ key, request: { do: "run", configuration, looks: some } });
      if (!looks) middle.push({ key, request: { do: "run", configuration } });
      else {
        add(early, looks.filter((look) => look <= EARLY_FLOWS));
        add(late, looks.filter((look) => look > EARLY_FLOWS));
      }
    }
  }
  return [...early, ...middle, ...late];
}

/** The key of an experiment under a protection. */
export function keyOf(experiment: string, text: string): string {
  return `${experiment} ${text}`;
}

/** What repeats the parts on a command line. */
export function repeatedOf(parts: Part[], picked: Picked[], values: Values): Repeated[] {
  return parts.map(({ experiment }) => ({
    experiment: experiment.command,
    protections: picked.map(({ text }) => text),
    settings: resolve(experiment, values).settings,
  }));
}
