// Places on a slider and the numbers they stand for.

import type { NumberKnob } from "../catalogue/types.ts";

/** Places of a slider, from 0. */
export const PLACES = 240;
/** Significant digits of a number that a slider on a logarithmic scale gives. */
const DIGITS = 2;

/** The place of a number. */
export function placeOf(knob: NumberKnob, value: number): number {
  const { min, max, scale } = knob;
  const low = lowest(knob);
  const share =
    scale === "log"
      ? Math.log(Math.max(value, low) / low) / Math.log(max / low)
      : (value - min) / (max - min || 1);
  return Math.round(Math.min(1, Math.max(0, share)) * PLACES);
}

/** The number of a place: few digits on a logarithmic scale, a multiple of the step on a linear one. */
export function numberAt(knob: NumberKnob, place: number): number {
  const { min, max, scale, step, whole } = knob;
  if (place <= 0) return min;
  if (place >= PLACES) return max;
  const share = place / PLACES;
  const low = lowest(knob);
  const exact = scale === "log" ? low * (max / low) ** share : min + share * (max - min);
  const near = scale === "log" ? Number(exact.toPrecision(DIGITS)) : stepped(exact, min, step ?? (whole ? 1 : (max - min) / PLACES));
  const value = whole ? Math.round(near) : Number(near.toPrecision(12));
  return Math.min(max, Math.max(min, value));
}

/** The place beside another whose number differs, so that a key always moves something. */
export function nextPlace(knob: NumberKnob, value: number, direction: 1 | -1): number {
  let place = placeOf(knob, value);
  do place += direction;
  while (place > 0 && place < PLACES && numberAt(knob, place) === value);
  return Math.min(PLACES, Math.max(0, place));
}

/** A logarithmic scale that begins at zero has zero at its first place, and six decades above it. */
function lowest({ min, max }: NumberKnob): number {
  return min > 0 ? min : max / 1e6;
}

function stepped(value: number, min: number, step: number): number {
  return min + Math.round((value - min) / step) * step;
}
