// Protections that a reader picks: their text, as `-p` takes it, and their native value.

import type { Json } from "./json.ts";
import { readValue } from "./read.ts";
import { defaultsOf, patched } from "./rules.ts";
import type { Spelling, Values } from "./types.ts";

/** A protection with its options. */
export interface Pick {
  word: string;
  /** States of the knobs of the argument and of the options, by id. */
  values: Values;
}

/** The pick of a spelling with default options. */
export function plainPick(spelling: Spelling): Pick {
  return { word: spelling.word, values: defaultsOf([...(spelling.argument?.knobs ?? []), ...spelling.options]) };
}

/** The text of a pick, such as `lg:copies=2` or `fec:25/5`: options only where they differ from their defaults. */
export function textOf(spelling: Spelling, pick: Pick): string {
  const { argument, options } = spelling;
  const parts = options
    .filter((knob) => pick.values[knob.id] !== undefined && pick.values[knob.id] !== knob.default)
    .map((knob) => `${knob.id}=${pick.values[knob.id]}`);
  if (argument) {
    parts.unshift(argument.knobs.map((knob) => String(pick.values[knob.id] ?? knob.default)).join(argument.separator));
  }
  return parts.length > 0 ? `${spelling.word}:${parts.join(",")}` : spelling.word;
}

/** The name for readers, such as "LinkGuardian, copies=2". */
export function nameOf(spelling: Spelling, pick: Pick): string {
  const [, rest] = cut(textOf(spelling, pick), ":");
  return rest === "" ? spelling.name : `${spelling.name} ${rest.replaceAll(",", ", ")}`;
}

/** The native value of a pick. */
export function valueOf(spelling: Spelling, pick: Pick): Json {
  if (spelling.rules.length === 0) return structuredClone(spelling.value);
  return patched(spelling.value, spelling.rules, { ...plainPick(spelling).values, ...pick.values });
}

/** Cuts the text of several protections: a part such as `tail=off` goes on with the protection before it. */
export function cutTexts(text: string): string[] {
  const found: string[] = [];
  for (const part of text.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const last = found.at(-1);
    if (/^[\w-]+=/.test(part) && last !== undefined) found[found.length - 1] = `${last},${part}`;
    else found.push(part);
  }
  return found;
}

/** Reads the text of a protection; gives a line that says what is wrong and how to mend it, or the pick. */
export function readPick(spellings: Spelling[], text: string): Pick | string {
  const [word, rest] = cut(text, ":");
  const spelling = spellings.find((one) => one.word === word);
  if (!spelling) return `no protection is called ${word}; take one of ${spellings.map((one) => one.word).join(", ")}`;
  const pick = plainPick(spelling);
  const parts = rest === "" ? [] : rest.split(",");
  if (spelling.argument && parts[0] !== undefined && !parts[0].includes("=")) {
    const problem = readArgument(spelling.argument, parts.shift() ?? "", pick, word);
    if (problem) return problem;
  }
  for (const part of parts) {
    const [name, value] = cut(part, "=");
    const knob = spelling.options.find((one) => one.id === name);
    const known = spelling.options.map((one) => one.id).join(", ");
    if (!knob) return `${word} has no option ${name}${known ? `; its options are ${known}` : " here"}`;
    const read = readValue(knob, value);
    if ("problem" in read) return `${word}: ${read.problem}`;
    pick.values[knob.id] = read.value;
  }
  return pick;
}

function readArgument(argument: NonNullable<Spelling["argument"]>, text: string, pick: Pick, word: string): string | undefined {
  const parts = text.split(argument.separator);
  if (parts.length !== argument.knobs.length) return `${word}:${text} is no ${word}; write it as ${argument.example}`;
  for (const [place, knob] of argument.knobs.entries()) {
    const read = readValue(knob, parts[place] ?? "");
    if ("problem" in read) return `${word}: ${read.problem}`;
    pick.values[knob.id] = read.value;
  }
  return undefined;
}

function cut(text: string, at: string): [string, string] {
  const place = text.indexOf(at);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + at.length)];
}
