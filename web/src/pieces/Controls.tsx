// The column of knobs: open on a desk, folded on a phone.

import type { ComponentChildren } from "preact";

/** Knobs and protections under a heading that folds them. */
export function Controls({ children }: { children: ComponentChildren }) {
  const isWide = matchMedia("(min-width: 56rem)").matches;
  return (
    <details class="controls" open={isWide}>
      <summary>Knobs</summary>
      {children}
    </details>
  );
}

/** What the simulator refused, one line each, with the protections that it is about. */
export function Errors({ errors }: { errors: Map<string, string> }) {
  const byLine = new Map<string, string[]>();
  for (const [key, line] of errors) {
    const about = key.split(" ").at(-1) ?? "";
    byLine.set(line, [...new Set([...(byLine.get(line) ?? []), about])]);
  }
  return (
    <div role="alert" class="errors">
      {[...byLine].map(([line, keys]) => (
        <p key={line} class="problem">
          {keys.some(Boolean) && <code>{keys.join(", ")}</code>} {line}
        </p>
      ))}
    </div>
  );
}
