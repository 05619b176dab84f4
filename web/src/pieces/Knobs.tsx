// Knobs: what a reader moves.

import { shown } from "../catalogue/rules.ts";
import type { Knob, Values } from "../catalogue/types.ts";
import { ChoiceField } from "./ChoiceField.tsx";
import { NumberField } from "./NumberField.tsx";

/** Sets a knob; while a slider moves, `isMoving` is true. */
export type SetValue = (id: string, value: string | number, isMoving: boolean) => void;

/** All knobs that are shown in a state; those that few readers move are folded. */
export function Knobs({ knobs, values, onSet }: { knobs: Knob[]; values: Values; onSet: SetValue }) {
  const all = shown(knobs, values);
  const folded = all.filter((knob) => knob.folded);
  const field = (knob: Knob) => (
    <KnobField key={knob.id} knob={knob} value={values[knob.id] ?? knob.default} onSet={onSet} />
  );
  return (
    <div class="knobs">
      {all.filter((knob) => !knob.folded).map(field)}
      {folded.length > 0 && (
        <details>
          <summary>More knobs</summary>
          <div class="knobs">{folded.map(field)}</div>
        </details>
      )}
    </div>
  );
}

/** One knob; `scope` tells apart knobs of one id, such as options of several protections. */
export function KnobField({
  knob,
  value,
  onSet,
  scope = "",
}: {
  knob: Knob;
  value: string | number;
  onSet: SetValue;
  scope?: string;
}) {
  const name = `knob-${scope}${knob.id}`.replace(/[^\w-]/g, "-");
  return knob.kind === "choice" ? (
    <ChoiceField knob={knob} name={name} value={String(value)} onSet={(one) => onSet(knob.id, one, false)} />
  ) : (
    <NumberField
      knob={knob}
      name={name}
      value={Number(value)}
      onSet={(one, isMoving) => onSet(knob.id, one, isMoving)}
    />
  );
}
