// The protections that a reader compares: each with a box to tick and its options folded.

import { plainPick, textOf, type Pick } from "../catalogue/protection.ts";
import { shown } from "../catalogue/rules.ts";
import type { Spelling } from "../catalogue/types.ts";
import { looksOf, shade } from "../figure/theme.ts";
import { KnobField } from "./Knobs.tsx";
import { useTheme } from "./use-theme.ts";
import { useState } from "preact/hooks";

interface Props {
  spellings: Spelling[];
  picks: Pick[];
  /** One at a time, or several. */
  many: boolean;
  onPick: (picks: Pick[], isMoving: boolean) => void;
}

/** The list of all protections of the registry. */
export function Protections({ spellings, picks, many, onPick }: Props) {
  const [remembered, setRemembered] = useState<Record<string, Pick>>({});
  const replace = (old: Pick, next: Pick | null, isMoving = false) => {
    setRemembered((kept) => ({ ...kept, [old.word]: next ?? old }));
    onPick(inOrder(spellings, picks.flatMap((pick) => (pick !== old ? [pick] : next ? [next] : []))), isMoving);
  };
  const add = (pick: Pick) => onPick(many ? inOrder(spellings, [...picks, pick]) : [pick], false);
  return (
    <fieldset class="protections">
      <legend>{many ? "Protections" : "Protection"}</legend>
      {spellings.map((spelling) => {
        const taken = picks.filter((pick) => pick.word === spelling.word);
        const rows = taken.length > 0 ? taken : [remembered[spelling.word] ?? plainPick(spelling)];
        return rows.map((pick, place) => (
          <Row
            key={`${spelling.word}-${place}`}
            spelling={spelling}
            pick={pick}
            place={place}
            many={many}
            isTaken={taken.length > 0}
            onTake={(isTaken) => (isTaken ? add(pick) : replace(pick, null))}
            onChange={(next, isMoving) =>
              taken.length > 0 ? replace(pick, next, isMoving) : setRemembered({ ...remembered, [pick.word]: next })
            }
            onCompare={many && taken.length > 0 && place === rows.length - 1 ? () => add({ ...pick, values: { ...pick.values } }) : null}
          />
        ));
      })}
    </fieldset>
  );
}

function inOrder(spellings: Spelling[], picks: Pick[]): Pick[] {
  const place = (pick: Pick) => spellings.findIndex((spelling) => spelling.word === pick.word);
  return [...picks].sort((one, other) => place(one) - place(other));
}

interface RowProps {
  spelling: Spelling;
  pick: Pick;
  place: number;
  many: boolean;
  isTaken: boolean;
  onTake: (isTaken: boolean) => void;
  onChange: (next: Pick, isMoving: boolean) => void;
  onCompare: (() => void) | null;
}

function Row({ spelling, pick, place, many, isTaken, onTake, onChange, onCompare }: RowProps) {
  const theme = useTheme();
  const look = looksOf(Array<string>(place + 1).fill(spelling.colour))[place];
  const knobs = [...(spelling.argument?.knobs ?? []), ...spelling.options];
  const set = (id: string, value: string | number, isMoving: boolean) =>
    onChange({ ...pick, values: { ...pick.values, [id]: value } }, isMoving);
  const text = textOf(spelling, pick);
  return (
    <div class="protection">
      <label class="tick">
        <input
          type={many ? "checkbox" : "radio"}
          name={many ? undefined : "protection"}
          checked={isTaken}
          onChange={(event) => onTake(event.currentTarget.checked)}
        />
        {look && (
          <svg class="sample" width="30" height="10" aria-hidden="true">
            <line x1="0" x2="30" y1="5" y2="5" stroke={shade(look, theme)} stroke-width="2.4" stroke-dasharray={look.dash || "none"} />
          </svg>
        )}
        <span class="name">{spelling.name}</span> <code>{text}</code>
      </label>
      <p class="meaning">{spelling.meaning}</p>
      {knobs.length > 0 && (
        <details>
          <summary>Options of {text}</summary>
          {shown(knobs, pick.values).map((knob) => (
            <KnobField
              key={knob.id}
              knob={knob}
              value={pick.values[knob.id] ?? knob.default}
              scope={`${spelling.word}-${place}-`}
              onSet={set}
            />
          ))}
          {onCompare && (
            <button type="button" class="quiet" onClick={onCompare}>
              Compare with other options of {spelling.word}
            </button>
          )}
        </details>
      )}
    </div>
  );
}
