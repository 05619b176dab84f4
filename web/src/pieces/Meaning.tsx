// What a knob means, behind a small button, so that the list of knobs stays short.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** A row with a label and a button that opens the meaning below it. */
export function Meaning({
  label,
  meaning,
  name,
  children,
}: {
  label: string;
  meaning: string;
  name: string;
  children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  if (meaning === "") return <div class="knob-head">{children}</div>;
  return (
    <>
      <div class="knob-head">
        {children}
        <button
          type="button"
          class="hint"
          aria-label={`Meaning of ${label}`}
          aria-expanded={isOpen}
          aria-controls={`${name}-meaning`}
          onClick={() => setOpen(!isOpen)}
        >
          ?
        </button>
      </div>
      <p id={`${name}-meaning`} class="meaning" hidden={!isOpen}>
        {meaning}
      </p>
    </>
  );
}
