// A knob with choices: a row of radio buttons where they are few and short, else a list.

import type { ChoiceKnob } from "../catalogue/types.ts";
import { Meaning } from "./Meaning.tsx";

const MOST_IN_A_ROW = 5;
/** Letters of a row of buttons, of which each has room for two more. */
const MOST_LETTERS = 34;

/** Shows the choices and tells the one that is taken. */
export function ChoiceField({
  knob,
  name,
  value,
  onSet,
}: {
  knob: ChoiceKnob;
  name: string;
  value: string;
  onSet: (value: string) => void;
}) {
  const letters = knob.choices.reduce((sum, choice) => sum + choice.label.length + 2, 0);
  const isRow = knob.choices.length <= MOST_IN_A_ROW && letters <= MOST_LETTERS;
  return (
    <div class="knob">
      <Meaning label={knob.label} meaning={knob.meaning} name={name}>
        {isRow ? (
          <span class="label" id={`${name}-label`}>
            {knob.label}
          </span>
        ) : (
          <label class="label" for={name}>
            {knob.label}
          </label>
        )}
      </Meaning>
      {isRow ? (
        <div class="row" role="radiogroup" aria-labelledby={`${name}-label`}>
          {knob.choices.map((choice) => (
            <label key={choice.value}>
              <input
                type="radio"
                name={name}
                value={choice.value}
                checked={choice.value === value}
                onChange={() => onSet(choice.value)}
              />
              <span>{choice.label}</span>
            </label>
          ))}
        </div>
      ) : (
        <select id={name} value={value} onChange={(event) => onSet(event.currentTarget.value)}>
          {knob.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
