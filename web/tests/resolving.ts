// What the page makes of a catalogue, for tests that compare it with lossylink: states in, configurations out.

import { readFileSync } from "node:fs";
import { readPick, textOf, valueOf } from "../src/catalogue/protection.ts";
import { commandLine, scenarioFile } from "../src/catalogue/repeat.ts";
import { resolve } from "../src/catalogue/rules.ts";
import type { Catalogue, Values } from "../src/catalogue/types.ts";

/** A state of an experiment; the protection is its text. */
interface State {
  experiment: string;
  values: Values;
  protection: string;
}

const [, , file = ""] = process.argv;
const catalogue = JSON.parse(readFileSync(file, "utf8")) as Catalogue;
const states = JSON.parse(readFileSync(0, "utf8")) as State[];
console.log(JSON.stringify(states.map(resolved)));

function resolved({ experiment: name, values, protection }: State) {
  const experiment = catalogue.experiments[name];
  const pick = readPick(catalogue.protections, protection);
  if (!experiment) return { error: `no experiment is called ${name}` };
  if (typeof pick === "string") return { error: pick };
  const spelling = catalogue.protections.find((one) => one.word === pick.word);
  if (!spelling) return { error: `no protection is called ${pick.word}` };
  const { configuration, settings } = resolve(experiment, values, valueOf(spelling, pick));
  const run = { experiment: experiment.command, protections: [textOf(spelling, pick)], settings };
  return { configuration, settings, protection: textOf(spelling, pick), command: commandLine(run), scenario: scenarioFile(run) };
}
