// Reading the state of a knob from text, with a line for what is wrong.

import { digits, written as spelt } from "../words/numbers.ts";
import type { Knob } from "./types.ts";

/** Reads what someone wrote for a knob. */
export function readValue(knob: Knob, text: string): { value: string | number } | { problem: string } {
  const written = text.trim();
  if (knob.kind === "choice") {
    if (knob.choices.some((choice) => choice.value === written)) return { value: written };
    return { problem: `${knob.id} is no ${written || "empty text"}; take one of ${knob.choices.map((one) => one.value).join(", ")}` };
  }
  const value = written === "" ? Number.NaN : Number(written.replaceAll("_", ""));
  if (!Number.isFinite(value)) return { problem: `${knob.id} is a number, not ${written || "empty text"}` };
  if (value < knob.min || value > knob.max) {
    const unit = knob.unit ? ` ${knob.unit}` : "";
    return { problem: `${knob.id} lies from ${digits(knob.min)} to ${digits(knob.max)}${unit}, and ${spelt(value)} does not` };
  }
  if (knob.whole && !Number.isInteger(value)) return { problem: `${knob.id} is a whole number, and ${spelt(value)} is not` };
  return { value };
}
