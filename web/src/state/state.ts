// What the page shows: which view, and for each view the states of its knobs and its protections.

import { plainPick, type Pick } from "../catalogue/protection.ts";
import { defaultsOf } from "../catalogue/rules.ts";
import type { Catalogue, Knob, Values } from "../catalogue/types.ts";
import { viewNames, type ViewName } from "./views.ts";

/** The state of one view. */
export interface ViewState {
  values: Values;
  picks: Pick[];
  /** The event at which a reader stands, in the view of one packet; null before the first step. */
  step: number | null;
  /** All days of a fabric, or its worst week. */
  span: "all" | "week";
}

/** The state of the page. */
export interface PageState {
  view: ViewName;
  /** Header and tabs are hidden, as in a frame of the documentation. */
  embed: boolean;
  states: Record<ViewName, ViewState>;
}

/** The knobs of a view; the knobs of `decide` are those of the plan. */
export function knobsOf(catalogue: Catalogue, view: ViewName): Knob[] {
  return (view === "decide" ? catalogue.plan : catalogue.views[view])?.knobs ?? [];
}

/** How many protections a view takes. */
export function picksOf(view: ViewName): "none" | "one" | "several" {
  return view === "decide" ? "none" : view === "watch" ? "one" : "several";
}

/** The state with which a view opens. */
export function openingState(catalogue: Catalogue, view: ViewName): ViewState {
  const picks = catalogue.protections.filter((spelling) => spelling.selected).map(plainPick);
  const wanted = { none: [], one: picks.slice(-1), several: picks }[picksOf(view)];
  return { values: defaultsOf(knobsOf(catalogue, view)), picks: wanted, step: null, span: "all" };
}

/** The state with which the page opens. */
export function openingPage(catalogue: Catalogue): PageState {
  const names = viewNames(catalogue);
  const states = Object.fromEntries(names.map((name) => [name, openingState(catalogue, name)]));
  const view = names.find((name) => name === catalogue.opens) ?? names[0] ?? "link";
  return { view, embed: false, states: states as Record<ViewName, ViewState> };
}
