// Steps from frame to frame, the kinds of frames, and the table of all frames.

import { kindLook, KINDS, TELLING } from "../figure/kinds.ts";
import type { FrameKind, Seen } from "../simulator/protocol.ts";
import { digits } from "../words/numbers.ts";
import { kindName, wayWords } from "../words/watched.ts";
import { Scrolled } from "./Tables.tsx";
import { useTheme } from "./use-theme.ts";

/** Boxes that show and hide kinds of frames; they are the legend too. */
export function KindBoxes({ frames, hidden, onHide }: { frames: Seen[]; hidden: FrameKind[]; onHide: (hidden: FrameKind[]) => void }) {
  const theme = useTheme();
  const kinds = KINDS.filter((kind) => frames.some((seen) => seen.kind === kind));
  return (
    <fieldset class="kinds">
      <legend class="unseen">Frames that are shown</legend>
      {kinds.map((kind) => {
        const look = kindLook(kind);
        return (
          <label key={kind}>
            <input
              type="checkbox"
              checked={!hidden.includes(kind)}
              onChange={(event) =>
                onHide(event.currentTarget.checked ? hidden.filter((one) => one !== kind) : [...hidden, kind])
              }
            />
            <svg width="26" height="12" aria-hidden="true">
              <line x1="0" x2="26" y1="6" y2="6" stroke={theme.isDark ? look.dark : look.light} stroke-width="2" stroke-dasharray={look.dash || "none"} />
            </svg>
            {look.name}
            {look.glyph && <b> {look.glyph}</b>}
          </label>
        );
      })}
    </fieldset>
  );
}

interface StepsProps {
  /** Places in the list of frames, in the order of time. */
  steps: number[];
  frames: Seen[];
  step: number | null;
  isLinkOnly: boolean;
  onLinkOnly: (isLinkOnly: boolean) => void;
  onStep: (step: number | null) => void;
}

/** Buttons and arrow keys that go from frame to frame. */
export function Steps({ steps, frames, step, isLinkOnly, onLinkOnly, onStep }: StepsProps) {
  const at = step ?? -1;
  const next = steps.find((index) => index > at);
  const before = steps.findLast((index) => index < at);
  const telling = steps.find((index) => index > at && (frames[index]?.lost || TELLING.includes(frames[index]?.kind ?? "data")));
  const press = (event: KeyboardEvent) => {
    const wanted = { ArrowDown: next, ArrowRight: next, ArrowUp: before, ArrowLeft: before, Home: steps[0], End: steps.at(-1) }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    onStep(wanted);
  };
  const go = (index: number | undefined) => index !== undefined && onStep(index);
  return (
    <div class="steps">
      <div role="toolbar" aria-label="Steps; arrow keys go from frame to frame" class="files" onKeyDown={press}>
        <button type="button" class="quiet" aria-disabled={before === undefined} onClick={() => go(before)}>
          ◂ Back
        </button>
        <button type="button" class="quiet" aria-disabled={next === undefined} onClick={() => go(next)}>
          Next ▸
        </button>
        <button type="button" class="quiet" aria-disabled={telling === undefined} onClick={() => go(telling)}>
          Next that tells of the loss
        </button>
        <button type="button" class="quiet" aria-disabled={step === null} onClick={() => onStep(null)}>
          All frames
        </button>
      </div>
      <label class="tick">
        <input type="checkbox" checked={isLinkOnly} onChange={(event) => onLinkOnly(event.currentTarget.checked)} />
        Steps on the link only
      </label>
    </div>
  );
}

/** All frames by time. */
export function FrameTable({ frames, onStep }: { frames: Seen[]; onStep: (step: number) => void }) {
  return (
    <details>
      <summary>Table of the frames</summary>
      <Scrolled label="Frames by time">
        <table class="frames">
          <thead>
            <tr>
              <th scope="col" class="number">
                time<small>us</small>
              </th>
              <th scope="col">way</th>
              <th scope="col">kind</th>
              <th scope="col">frame</th>
            </tr>
          </thead>
          <tbody>
            {frames.map((seen, index) => (
              <tr key={index}>
                <td class="number">{digits(seen.at_us, 6)}</td>
                <td>{wayWords(seen)}</td>
                <td>{seen.lost ? "lost" : kindName(seen)}</td>
                <td>
                  <button type="button" class="plain" onClick={() => onStep(index)}>
                    {seen.words}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  );
}
