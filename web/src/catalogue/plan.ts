// Decisions of the catalogue: the entry of a state, and the map of winners over two knobs.

import type { ChoiceKnob, Entry, Plan, Values } from "./types.ts";

/** A cell of the map. */
export interface Cell {
  x: string;
  y: string;
  entry: Entry | undefined;
}

/** The entry of a state. */
export function entryOf(plan: Plan, values: Values): Entry | undefined {
  return plan.entries[plan.knobs.map((knob) => String(values[knob.id] ?? knob.default)).join("|")];
}

/** The knobs of the map: across and upwards. */
export function mapKnobs(plan: Plan): { x: ChoiceKnob; y: ChoiceKnob } | undefined {
  const found = (id: string) => plan.knobs.find((knob) => knob.id === id);
  const [x, y] = [found(plan.map.x), found(plan.map.y)];
  return x?.kind === "choice" && y?.kind === "choice" ? { x, y } : undefined;
}

/** All cells of the map, the other knobs as they are. */
export function cellsOf(plan: Plan, values: Values): Cell[] {
  const knobs = mapKnobs(plan);
  if (!knobs) return [];
  return knobs.y.choices.flatMap((y) =>
    knobs.x.choices.map((x) => ({
      x: x.value,
      y: y.value,
      entry: entryOf(plan, { ...values, [knobs.x.id]: x.value, [knobs.y.id]: y.value }),
    })),
  );
}
