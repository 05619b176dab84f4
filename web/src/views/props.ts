// What every view gets.

import { nameOf, textOf, valueOf, type Pick } from "../catalogue/protection.ts";
import type { Json } from "../catalogue/json.ts";
import type { Catalogue } from "../catalogue/types.ts";
import { looksOf, type Look } from "../figure/theme.ts";
import type { ViewState } from "../state/state.ts";

export interface ViewProps {
  catalogue: Catalogue;
  state: ViewState;
  /** Changes the state of the view; while something moves, the change is no place to come back to. */
  onChange: (change: Partial<ViewState>, isMoving?: boolean) => void;
}

/** A picked protection with all that a view shows of it. */
export interface Picked {
  text: string;
  label: string;
  value: Json;
  look: Look;
}

/** The picked protections of a view, each once. */
export function pickedOf(catalogue: Catalogue, picks: Pick[]): Picked[] {
  const found = picks.flatMap((pick) => {
    const spelling = catalogue.protections.find((one) => one.word === pick.word);
    return spelling ? [{ spelling, pick, text: textOf(spelling, pick) }] : [];
  });
  const looks = looksOf(found.map(({ spelling }) => spelling.colour));
  const picked = found.map(({ spelling, pick, text }, place) => ({
    text,
    label: nameOf(spelling, pick),
    value: valueOf(spelling, pick),
    look: looks[place] as Look,
  }));
  return picked.filter((one, place) => picked.findIndex((other) => other.text === one.text) === place);
}

/** What sets a knob of a view. */
export function setterOf({ state, onChange }: ViewProps) {
  return (id: string, value: string | number, isMoving: boolean) =>
    onChange({ values: { ...state.values, [id]: value }, step: null }, isMoving);
}
