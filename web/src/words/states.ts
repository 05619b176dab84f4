// The state of a link's two ends, step by step: which counters move while a flow passes, and what they say at a step.

import { isObject, type Json, type JsonObject } from "../catalogue/json.ts";
import type { State, Watched } from "../simulator/protocol.ts";

/** Less than the time between two frames, and more than captures cut off, in microseconds. */
const ROUNDING_US = 0.001;

type End = "near" | "far";

/** A counter that moves while a flow passes. */
export interface Moving {
  end: End;
  /** As `--state-at --json` names it below its end, such as sender.next_seq. */
  name: string;
  value: number | boolean;
  /** The value at the state before, where it was another. */
  before: number | boolean | null;
}

/** The state at a step: the last one that has the frame of the step; none before the first frame of the link. */
export function stateAt({ frames, states }: Watched, step: number | null): State | undefined {
  const frame = step === null ? undefined : frames[step];
  return frame && states.findLast((state) => state.at_us < frame.at_us + ROUNDING_US);
}

/** The counters that move while the flow passes, as they stand at a state. */
export function movingAt({ states }: Watched, state: State): Moving[] {
  const previous = states[states.indexOf(state) - 1];
  return (["near", "far"] as const).flatMap((end) => {
    const told = states.map((one) => counters(one[end]));
    const [now, before] = [counters(state[end]), previous && counters(previous[end])];
    return [...now].flatMap(([name, value]): Moving[] => {
      const isMoving = told.some((one) => one.get(name) !== value);
      const was = before?.get(name);
      return isMoving ? [{ end, name, value, before: was === undefined || was === value ? null : was }] : [];
    });
  });
}

/** All counters of an end by their names; text is no counter. */
function counters(end: JsonObject, prefix = ""): Map<string, number | boolean> {
  return new Map(Object.entries(end).flatMap(([name, value]) => named(`${prefix}${name}`, value)));
}

function named(name: string, value: Json): [string, number | boolean][] {
  if (isObject(value)) return [...counters(value, `${name}.`)];
  return typeof value === "number" || typeof value === "boolean" ? [[name, value]] : [];
}
