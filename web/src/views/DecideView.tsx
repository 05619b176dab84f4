// Decide: what `lossylink plan` says of a link, and where on the map of loss and rate each protection wins.

import { cellsOf, entryOf, mapKnobs, type Cell } from "../catalogue/plan.ts";
import type { Catalogue, ChoiceKnob, Entry, Plan } from "../catalogue/types.ts";
import { drawMap } from "../figure/map.ts";
import { looksOf, shade, type Look } from "../figure/theme.ts";
import { Controls } from "../pieces/Controls.tsx";
import { Figure } from "../pieces/Figure.tsx";
import { Knobs } from "../pieces/Knobs.tsx";
import { Notes } from "../pieces/Notes.tsx";
import { Repeat } from "../pieces/Repeat.tsx";
import { rowHead, Scrolled } from "../pieces/Tables.tsx";
import { useTheme } from "../pieces/use-theme.ts";
import { counted, digits, listed } from "../words/numbers.ts";
import { setterOf, type ViewProps } from "./props.ts";

/** The view: the sentence first, then the table and the map. */
export function DecideView(props: ViewProps) {
  const { catalogue } = props;
  const { plan } = catalogue;
  return plan ? <Decisions {...props} plan={plan} /> : null;
}

function Decisions({ plan, ...props }: ViewProps & { plan: Plan }) {
  const { catalogue, state, onChange } = props;
  const entry = entryOf(plan, state.values);
  const knobs = mapKnobs(plan);
  const cells = cellsOf(plan, state.values);
  const take = (x: string, y: string) => onChange({ values: { ...state.values, [plan.map.x]: x, [plan.map.y]: y } });
  return (
    <div class="view">
      <Controls>
        <Knobs knobs={plan.knobs} values={state.values} onSet={setterOf(props)} />
      </Controls>
      <div class="figures">
        {entry ? (
          <section aria-labelledby="decision">
            <h2 id="decision">Decision</h2>
            <p class="decision" role="status">
              {capital(entry.sentence)}
            </p>
            <PlanTable catalogue={catalogue} plan={plan} entry={entry} />
          </section>
        ) : (
          <p role="status">The catalogue has no decision for this choice.</p>
        )}
        {knobs && (
          <Figure
            name="lossylink-decide"
            title="Which protection to take"
            summary={mapSummary(cells)}
            draw={(canvas) =>
              drawMap(
                {
                  ...knobs,
                  cells,
                  current: { x: String(state.values[knobs.x.id]), y: String(state.values[knobs.y.id]) },
                  lookOf: (protection) => lookOf(catalogue, protection),
                },
                canvas,
              )
            }
            of={[state.values]}
            rows={() => [
              [knobs.x.id, knobs.y.id, "winner", "sentence"],
              ...cells.map(({ x, y, entry: one }) => [x, y, one?.winner ?? null, one?.sentence ?? null]),
            ]}
            onDrawn={(svg) => listen(svg, cells, take)}
          >
            <MapTable {...knobs} cells={cells} onTake={take} />
          </Figure>
        )}
        <Notes notes={catalogue.views["decide"]?.notes ?? []} values={state.values} />
        {entry && <Repeat runs={[]} commands={[entry.command]} />}
      </div>
    </div>
  );
}

function capital(sentence: string): string {
  const text = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function lookOf(catalogue: Catalogue, protection: string): Look {
  const word = protection.split(":")[0];
  const colour = catalogue.protections.find((one) => one.word === word)?.colour ?? "#000000";
  return looksOf([colour])[0] as Look;
}

function mapSummary(cells: Cell[]): string {
  const counts = new Map<string, number>();
  for (const { entry } of cells) {
    const word = entry?.winner?.split(":")[0] ?? "";
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const ordered = [...counts].sort(([, one], [, other]) => other - one);
  const parts = ordered.map(([word, cellCount]) => `${word || "no protection"} in ${counted(cellCount, "cell")}`);
  return `The plan takes ${listed(parts)}. A click on a cell sets the knobs.`;
}

function listen(svg: SVGElement, cells: Cell[], take: (x: string, y: string) => void): void {
  for (const drawn of svg.querySelectorAll<SVGElement>("[data-place]")) {
    const cell = cells[Number(drawn.dataset["place"])];
    if (cell) drawn.addEventListener("click", () => take(cell.x, cell.y));
  }
}

function PlanTable({ catalogue, plan, entry }: { catalogue: Catalogue; plan: Plan; entry: Entry }) {
  const theme = useTheme();
  return (
    <Scrolled label="Plan" caption="What each protection makes of the link">
      <table>
        <thead>
          <tr>
            <th scope="col">protection</th>
            {plan.columns.map(({ key, label, unit }) => (
              <th key={key} scope="col" class="number">
                {label}
                {unit && <small>{unit}</small>}
              </th>
            ))}
            <th scope="col">meets target</th>
          </tr>
        </thead>
        <tbody>
          {entry.rows.map(({ protection, verdict, values }) => (
            <tr key={protection} class={protection === entry.winner ? "winner" : undefined}>
              <th scope="row" class={rowHead(protection)}>
                <span class="dot" style={{ background: shade(lookOf(catalogue, protection), theme) }} aria-hidden="true" />
                {protection}
              </th>
              {plan.columns.map(({ key }) => {
                const value = values[key];
                return (
                  <td key={key} class="number">
                    {value === null || value === undefined ? "-" : digits(value, 3)}
                  </td>
                );
              })}
              <td class="whole">{verdict}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

interface MapTableProps {
  x: ChoiceKnob;
  y: ChoiceKnob;
  cells: Cell[];
  onTake: (x: string, y: string) => void;
}

function MapTable({ x, y, cells, onTake }: MapTableProps) {
  return (
    <details>
      <summary>Table of the map</summary>
      <Scrolled label="Map as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">
                {y.label} \ {x.label}
              </th>
              {x.choices.map((choice) => (
                <th key={choice.value} scope="col">
                  {choice.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {y.choices.map((row) => (
              <tr key={row.value}>
                <th scope="row">{row.label}</th>
                {x.choices.map((column) => (
                  <td key={column.value}>
                    <button type="button" class="plain" onClick={() => onTake(column.value, row.value)}>
                      {cells.find((cell) => cell.x === column.value && cell.y === row.value)?.entry?.winner ?? "no protection"}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  );
}
