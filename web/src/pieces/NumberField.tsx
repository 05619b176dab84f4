// A knob with a number: a slider, and a field for what the slider has no place for.

import { useEffect, useRef, useState } from "preact/hooks";
import { readValue } from "../catalogue/read.ts";
import type { NumberKnob } from "../catalogue/types.ts";
import { digits, written } from "../words/numbers.ts";
import { Meaning } from "./Meaning.tsx";
import { nextPlace, numberAt, placeOf, PLACES } from "./slider.ts";

/** Shows a number and tells each change; `isMoving` while the slider is held. */
export function NumberField({
  knob,
  name,
  value,
  onSet,
}: {
  knob: NumberKnob;
  name: string;
  value: number;
  onSet: (value: number, isMoving: boolean) => void;
}) {
  const [text, setText] = useState(written(value));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (Number(text) !== value) setText(written(value));
    setProblem("");
  }, [value]);
  const take = (next: string) => {
    const read = readValue({ ...knob, id: knob.label }, next);
    if ("problem" in read) return setProblem(read.problem);
    setProblem("");
    onSet(Number(read.value), false);
  };
  const slide = (place: number, isHeld: boolean) => {
    const next = numberAt(knob, place);
    setText(written(next));
    onSet(next, isHeld);
  };
  // Keys move until the slider is left: that is one movement.
  const isMoving = useRef(false);
  const settle = () => {
    if (isMoving.current) onSet(value, false);
    isMoving.current = false;
  };
  const press = (event: KeyboardEvent) => {
    const direction = directionOf(event);
    if (!direction) return;
    event.preventDefault();
    isMoving.current = true;
    slide(nextPlace(knob, value, direction), true);
  };
  return (
    <div class="knob">
      <Meaning label={knob.label} meaning={knob.meaning} name={name}>
        <label class="label" for={name}>
          {knob.label}
        </label>
        <span class="field">
          <input
            id={name}
            type="text"
            inputMode="decimal"
            autocomplete="off"
            spellcheck={false}
            value={text}
            aria-invalid={problem !== ""}
            aria-describedby={problem ? `${name}-problem` : undefined}
            onInput={(event) => setText(event.currentTarget.value)}
            onChange={(event) => take(event.currentTarget.value)}
          />
          <span class="unit">{knob.unit}</span>
        </span>
      </Meaning>
      <input
        type="range"
        min={0}
        max={PLACES}
        step={1}
        value={placeOf(knob, value)}
        aria-label={`${knob.label}, slider`}
        aria-valuetext={`${digits(value)} ${knob.unit}`.trim()}
        onInput={(event) => slide(Number(event.currentTarget.value), true)}
        onChange={(event) => slide(Number(event.currentTarget.value), false)}
        onKeyDown={press}
        onBlur={settle}
      />
      {problem && (
        <p id={`${name}-problem`} class="problem" role="alert">
          {problem}.
        </p>
      )}
    </div>
  );
}

/** Upwards or downwards, for the keys that move a slider by one place. */
function directionOf(event: KeyboardEvent): 1 | -1 | undefined {
  const directions: Record<string, 1 | -1> = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
  return directions[event.key];
}
