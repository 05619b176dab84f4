// The fragment of the address, which restores a view: #view=link&link.rate=100G&protections=none,lg:copies=2

import { cutTexts, readPick, textOf, type Pick } from "../catalogue/protection.ts";
import { readValue } from "../catalogue/read.ts";
import { shown } from "../catalogue/rules.ts";
import type { Catalogue } from "../catalogue/types.ts";
import { knobsOf, openingState, picksOf, type PageState, type ViewState } from "./state.ts";
import { viewNames, type ViewName } from "./views.ts";

/** Writes the fragment of the view that is shown, without the sign `#`. */
export function writeFragment(catalogue: Catalogue, page: PageState): string {
  const state = page.states[page.view];
  const parts: [string, string][] = [["view", page.view]];
  for (const knob of shown(knobsOf(catalogue, page.view), state.values)) {
    parts.push([knob.id, String(state.values[knob.id] ?? knob.default)]);
  }
  if (picksOf(page.view) !== "none") parts.push(["protections", textsOf(catalogue, state.picks).join(",")]);
  if (state.step !== null) parts.push(["step", String(state.step)]);
  if (state.span !== "all") parts.push(["span", state.span]);
  if (page.embed) parts.push(["embed", "1"]);
  return parts.map(([key, value]) => `${escaped(key)}=${escaped(value)}`).join("&");
}

/** The texts of picks, as `-p` takes them. */
export function textsOf(catalogue: Catalogue, picks: Pick[]): string[] {
  return picks.flatMap((pick) => {
    const spelling = catalogue.protections.find((one) => one.word === pick.word);
    return spelling ? [textOf(spelling, pick)] : [];
  });
}

/** Reads a fragment on top of a page; each problem is a line, and its value becomes the default. */
export function readFragment(
  catalogue: Catalogue,
  fragment: string,
  page: PageState,
): { page: PageState; problems: string[] } {
  const problems: string[] = [];
  const given = new Map(fragment.replace(/^#/, "").split("&").filter(Boolean).map(cutPart));
  const view = readView(catalogue, given.get("view"), page.view, problems);
  const state = openingState(catalogue, view);
  for (const [key, text] of given) {
    if (key !== "view" && key !== "embed") readPart(catalogue, view, state, key, text, problems);
  }
  return { page: { view, embed: given.get("embed") === "1", states: { ...page.states, [view]: state } }, problems };
}

function readView(catalogue: Catalogue, text: string | undefined, fallback: ViewName, problems: string[]): ViewName {
  const names = viewNames(catalogue);
  const found = names.find((name) => name === text);
  if (text !== undefined && !found) problems.push(`no view is called ${text}; the views are ${names.join(", ")}`);
  return found ?? fallback;
}

function readPart(
  catalogue: Catalogue,
  view: ViewName,
  state: ViewState,
  key: string,
  text: string,
  problems: string[],
): void {
  if (key === "protections" || key === "protection") return readPicks(catalogue, view, state, text, problems);
  if (key === "step") return void (state.step = /^\d{1,7}$/.test(text) ? Number(text) : null);
  if (key === "span") return void (state.span = text === "week" ? "week" : "all");
  const knob = knobsOf(catalogue, view).find((one) => one.id === key);
  if (!knob) return void problems.push(`the view ${view} has no knob ${key}; the page leaves it out`);
  const read = readValue(knob, text);
  if ("problem" in read) problems.push(`${read.problem}; the page takes ${knob.default}`);
  else state.values[key] = read.value;
}

function readPicks(
  catalogue: Catalogue,
  view: ViewName,
  state: ViewState,
  text: string,
  problems: string[],
): void {
  const picks: Pick[] = [];
  for (const one of new Set(cutTexts(text))) {
    const read = readPick(catalogue.protections, one);
    if (typeof read === "string") problems.push(`${read}; the page leaves it out`);
    else picks.push(read);
  }
  if (picksOf(view) === "none" || (picks.length === 0 && text !== "")) return;
  state.picks = picksOf(view) === "one" ? (picks.length > 0 ? picks.slice(0, 1) : state.picks) : picks;
}

function cutPart(part: string): [string, string] {
  const place = part.indexOf("=");
  return place < 0 ? [unescaped(part), ""] : [unescaped(part.slice(0, place)), unescaped(part.slice(place + 1))];
}

/** Escapes only what would end a value or be lost on the way, so that people can read the rest. */
function escaped(text: string): string {
  return text.replace(/[^\w.,:;/=~!*()@|-]/g, (sign) => encodeURIComponent(sign));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
