// From the states of knobs to a configuration and to what the command line says, by the rules of the catalogue.

import { isObject, type Json, type JsonObject } from "./json.ts";
import { fill, merge } from "./merge.ts";
import type { Experiment, Knob, Rule, Values, View, When } from "./types.ts";

/** Looks at an experiment in flows before the last. */
const EARLY_LOOKS = [300, 3000, 30_000];

/** What an experiment becomes with the states of knobs. */
export interface Resolved {
  configuration: JsonObject;
  /** Keys and values of `--set`. */
  settings: Record<string, string>;
}

/** Whether the states of knobs meet a condition; no condition is always met. */
export function holds(when: When | undefined, values: Values): boolean {
  return Object.entries(when ?? {}).every(([id, wanted]) => wanted.includes(String(values[id])));
}

/** Resolves an experiment, with the native value of its protection. */
export function resolve(experiment: Experiment, values: Values, protection?: Json): Resolved {
  const configuration = patched(experiment.base, experiment.rules, values) as JsonObject;
  if (protection !== undefined) configuration["protection"] = protection;
  return { configuration, settings: settingsOf(experiment.rules, values) };
}

/** Applies the patches of rules in their order. */
export function patched(base: Json, rules: Rule[], values: Values): Json {
  let result = merge(undefined, structuredClone(base));
  for (const rule of rules) {
    if (rule.patch && holds(rule.when, values)) result = merge(result, fill(rule.patch, values));
  }
  return result;
}

/** The settings of rules, in their order; a later rule wins. */
export function settingsOf(rules: Rule[], values: Values): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const rule of rules) {
    if (!rule.settings || !holds(rule.when, values)) continue;
    for (const [key, text] of Object.entries(rule.settings)) settings[key] = withValues(text, values);
  }
  return settings;
}

/** Fills the holes of a text with the states of knobs. */
export function withValues(text: string, values: Values): string {
  return text.replace(/\{([^{}]+)\}/g, (hole, id: string) => (id in values ? String(values[id]) : hole));
}

/** The default state of each knob. */
export function defaultsOf(knobs: Knob[]): Values {
  return Object.fromEntries(knobs.map((knob) => [knob.id, knob.default]));
}

/** The knobs that a reader sees in this state. */
export function shown(knobs: Knob[], values: Values): Knob[] {
  return knobs.filter((knob) => holds(knob.when, values));
}

/** The experiments of a view that run in this state, by name. */
export function experimentsOf(
  view: View,
  experiments: Record<string, Experiment>,
  values: Values,
): [string, Experiment][] {
  return view.experiments.flatMap((name): [string, Experiment][] => {
    const experiment = experiments[name];
    return experiment && holds(experiment.when, values) ? [[name, experiment]] : [];
  });
}

/** Counts of flows after which an experiment in flows answers: the last is what its configuration says. */
export function looksOf(configuration: JsonObject): number[] | undefined {
  const flow = configuration["flow"];
  const flows = isObject(flow) ? flow["trials"] : undefined;
  return typeof flows === "number" ? [...EARLY_LOOKS.filter((look) => look < flows), flows] : undefined;
}
