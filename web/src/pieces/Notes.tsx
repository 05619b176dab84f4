// What is calibrated, extrapolated or assumed in this state.

import { holds } from "../catalogue/rules.ts";
import type { Note, Values } from "../catalogue/types.ts";

/** The notes of a view that hold in a state. */
export function Notes({ notes, values }: { notes: Note[]; values: Values }) {
  const held = notes.filter((note) => holds(note.when, values));
  if (held.length === 0) return null;
  return (
    <ul class="notes" aria-label="What the figures rest on">
      {held.map((note) => (
        <li key={note.text}>
          <span class={`kind ${note.kind}`}>{note.kind}</span> {note.text}
        </li>
      ))}
    </ul>
  );
}
