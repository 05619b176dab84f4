// Merge patches (RFC 7396) whose numbers may be holes, filled from knobs.

import { isObject, type Json, type JsonObject } from "./json.ts";
import type { Values } from "./types.ts";

/** Applies a merge patch: null removes a member, an object merges, all else replaces. */
export function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

/** Fills the holes of a patch: `{"$": "link.length", "times": 5000, "plus": 7, "whole": true}` is a number of the knobs. */
export function fill(template: Json, values: Values): Json {
  if (Array.isArray(template)) return template.map((part) => fill(part, values));
  if (!isObject(template)) return template;
  if (typeof template["$"] === "string") return filled(template, template["$"], values);
  return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, fill(part, values)]));
}

function filled(hole: JsonObject, id: string, values: Values): number {
  const value = Number(values[id]);
  if (values[id] === undefined || Number.isNaN(value)) {
    throw new Error(`the catalogue asks for the number of ${id}, which is no knob with a number`);
  }
  const scaled = value * (typeof hole["times"] === "number" ? hole["times"] : 1);
  const plus = typeof hole["plus"] === "number" ? hole["plus"] : 0;
  return (hole["whole"] === true ? rounded(scaled) : scaled) + plus;
}

/** Rounds half away from zero, as the catalogue's maker does. */
export function rounded(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}
