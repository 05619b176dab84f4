// The state of the link's two ends at a step: the counters that move while the flow passes.

import type { Watched } from "../simulator/protocol.ts";
import { digits } from "../words/numbers.ts";
import { movingAt, stateAt, type Moving } from "../words/states.ts";
import { Scrolled } from "./Tables.tsx";

/** A table for each end; what the step has changed stands out. */
export function StateTable({ watched, step }: { watched: Watched; step: number | null }) {
  const state = stateAt(watched, step);
  const moving = state ? movingAt(watched, state) : [];
  const [near = "", far = ""] = watched.link.split("-");
  const ends = { near: `sending end (${near})`, far: `receiving end (${far})` };
  return (
    <details class="states">
      <summary>State of the link's two ends</summary>
      {state ? (
        <>
          <p class="caption">
            At {digits(state.at_us, 6)} us, with the names of <code>--state-at</code>; counters that do not move while the flow passes are left out.
          </p>
          <div class="ends">
            {(["near", "far"] as const).map((end) => (
              <Scrolled key={end} label={`State of the ${ends[end]}`} caption={`The ${ends[end]}`}>
                <Counters counters={moving.filter((one) => one.end === end)} />
              </Scrolled>
            ))}
          </div>
        </>
      ) : (
        <p class="caption">Step to a frame of the link to see how its two ends stand then.</p>
      )}
    </details>
  );
}

function Counters({ counters }: { counters: Moving[] }) {
  return (
    <table class="frames">
      <thead>
        <tr>
          <th scope="col">counter</th>
          <th scope="col" class="number">
            value
          </th>
          <th scope="col" class="number">
            before
          </th>
        </tr>
      </thead>
      <tbody>
        {counters.map(({ name, value, before }) => (
          <tr key={name} class={before === null ? undefined : "winner"}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td class="number">{written(value)}</td>
            <td class="number">{before === null ? "" : written(before)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function written(value: number | boolean): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : value.toLocaleString("en-US");
}
