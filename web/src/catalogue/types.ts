// The catalogue: what Python computed for the page. The page has no rule of lossylink besides it.

import type { JsonObject } from "./json.ts";

export interface Catalogue {
  /** Version of lossylink. */
  version: string;
  /** The view with which the page opens, where a scenario is served; the first, where absent. */
  opens?: string;
  experiments: Record<string, Experiment>;
  views: Record<string, View>;
  /** From the registry, in its order. */
  protections: Spelling[];
  /** Decisions on a grid, made by `lossylink plan`; a catalogue of a user's scenario may have none. */
  plan?: Plan;
  percentiles: Percentile[];
  /** The data dictionary: keys of rows. */
  columns: Record<string, Column>;
}

export interface Percentile {
  key: string;
  percent: number;
  label: string;
}

export interface Column {
  label: string;
  unit: string;
  meaning: string;
}

export interface Experiment {
  /** What follows `lossylink run`. */
  command: string;
  /** The native configuration with the view's defaults and without protection. */
  base: JsonObject;
  /** Applied in order. */
  rules: Rule[];
  /** Keys of the row to show. */
  headline: string[];
  /** For a watched flow: the knob with the packet that is lost, and settings for which `{position}` is its place on the link. */
  lost?: { knob: string; settings: Record<string, string> };
  /** The experiment belongs to its view only with these choices; always, where absent. */
  when?: When;
}

/** Knob to values of which one must be set; all must hold. */
export type When = Record<string, string[]>;

export interface Rule {
  when?: When;
  /** Merge patch (RFC 7396) on the configuration, with holes `{"$": "knob", "times": 1000, "plus": 7, "whole": true}`. */
  patch?: JsonObject;
  /** What `--set KEY=VALUE` says, with holes `{knob}`. */
  settings?: Record<string, string>;
}

export interface View {
  title: string;
  lead: string;
  experiments: string[];
  knobs: Knob[];
  notes: Note[];
}

export interface Note {
  when?: When;
  kind: "calibrated" | "extrapolated" | "assumed";
  text: string;
}

interface KnobBase {
  /** Also the name in the fragment of the address. */
  id: string;
  label: string;
  meaning: string;
  /** Empty where there is none. */
  unit: string;
  /** Shown only then. */
  when?: When;
  /** Folded away, as few readers move it. */
  folded?: boolean;
}

export interface ChoiceKnob extends KnobBase {
  kind: "choice";
  choices: { value: string; label: string }[];
  default: string;
}

export interface NumberKnob extends KnobBase {
  kind: "number";
  scale: "log" | "linear";
  min: number;
  max: number;
  step?: number;
  whole: boolean;
  default: number;
}

export type Knob = ChoiceKnob | NumberKnob;

/** The states of knobs by their ids. */
export type Values = Record<string, string | number>;

export interface Spelling {
  word: string;
  name: string;
  meaning: string;
  /** From `lossylink.charts.palette`. */
  colour: string;
  /** The native value with default options. */
  value: JsonObject | string;
  argument?: { knobs: Knob[]; example: string; separator: "/" };
  /** Ids are the names of the options. */
  options: Knob[];
  /** Patches on the value. */
  rules: Rule[];
  /** Picked when the page opens. */
  selected: boolean;
}

export interface Plan {
  command: string;
  /** Choices only. */
  knobs: Knob[];
  /** By the values of the choices, joined by "|" in the order of the knobs. */
  entries: Record<string, Entry>;
  columns: { key: string; label: string; unit: string }[];
  /** The two knobs of the map. */
  map: { x: string; y: string };
}

export interface Entry {
  rows: { protection: string; verdict: string; values: Record<string, number | null> }[];
  winner: string | null;
  sentence: string;
  command: string;
}
