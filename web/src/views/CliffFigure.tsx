// The cliff behind each code of a line: its jobs, its figure and its table.

import { resolve } from "../catalogue/rules.ts";
import type { ChoiceKnob, Knob, NumberKnob, Values, View } from "../catalogue/types.ts";
import { berAt, berGrid, drawCliffs, type Cliff } from "../figure/cliff.ts";
import { looksOf, type Look } from "../figure/theme.ts";
import { Figure } from "../pieces/Figure.tsx";
import { Scrolled } from "../pieces/Tables.tsx";
import type { Job } from "../simulator/crew.ts";
import type { Ratios } from "../simulator/protocol.ts";
import { digits } from "../words/numbers.ts";
import type { Part } from "./flow-study.ts";

/** Points of a curve: most of them lie in the last decades, where the losses behind codes with symbols fall. */
const FLAT_POINTS = 30;
const STEEP_POINTS = 60;
const STEEP_FACTOR = 1000;
/** Colours of codes, in the order of the knob: blue, green, orange, vermillion, purple, sky, black. */
const COLOURS = ["#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#000000"];
/** Losses between which the cliff lies: nobody notices the first, the last ruins tails. */
const EDGES = [1e-8, 1e-3];

/** The knobs of the code and of the bit error ratio: their names end so. */
export function lineKnobs(knobs: Knob[]): { code: ChoiceKnob; ber: NumberKnob } | undefined {
  const code = knobs.find((knob): knob is ChoiceKnob => knob.kind === "choice" && /(^|\.)code$/.test(knob.id));
  const ber = knobs.find((knob): knob is NumberKnob => knob.kind === "number" && /(^|\.)ber$/.test(knob.id));
  return code && ber ? { code, ber } : undefined;
}

/** A job for each code: the losses along the knob's bit error ratios, and last at the state's. */
export function cliffJobs(view: View, parts: Part[], values: Values): Job[] {
  const knobs = lineKnobs(view.knobs);
  const experiment = parts[0]?.experiment;
  if (!knobs || !experiment) return [];
  return knobs.code.choices.map(({ value }) => ({
    key: lineKey(value),
    request: {
      do: "line",
      configuration: resolve(experiment, { ...values, [knobs.code.id]: value }).configuration,
      ber: [...gridOf(knobs.ber), Number(values[knobs.ber.id])],
    },
  }));
}

/** No experiment has a colon in its name. */
const lineKey = (code: string) => `code: ${code}`;

function gridOf(knob: NumberKnob): number[] {
  const least = knob.min > 0 ? knob.min : 1e-9;
  const steep = Math.max(least, knob.max / STEEP_FACTOR);
  const flat = steep > least ? berGrid(least, steep, FLAT_POINTS).slice(0, -1) : [];
  return [...flat, ...berGrid(steep, knob.max, STEEP_POINTS)];
}

interface CliffProps {
  view: View;
  values: Values;
  answers: Map<string, unknown>;
  isBusy: boolean;
}

interface Found extends Cliff {
  value: string;
  /** The loss at the bit error ratio of the state. */
  now: number | undefined;
}

/** The losses behind all codes, and where the knobs stand. */
export function CliffFigure({ view, values, answers, isBusy }: CliffProps) {
  const knobs = lineKnobs(view.knobs);
  if (!knobs) return null;
  const bers = gridOf(knobs.ber);
  const looks = looksOf(knobs.code.choices.map((_, place) => COLOURS[place % COLOURS.length] ?? "#000000"));
  const cliffs = knobs.code.choices.flatMap(({ value, label }, place): Found[] => {
    const ratios = (answers.get(lineKey(value)) as Ratios | undefined)?.ratios;
    if (!ratios) return [];
    const points = bers.map((ber, at): [number, number] => [ber, ratios[at] ?? 0]);
    return [{ value, label, look: looks[place] as Look, points, now: ratios.at(-1) }];
  });
  const ber = Number(values[knobs.ber.id]);
  const current = cliffs.find((cliff) => cliff.value === values[knobs.code.id]);
  return (
    <Figure
      name="lossylink-cliff"
      title="The cliff behind each code"
      summary={cliffSummary(current, ber)}
      draw={(canvas) => drawCliffs(cliffs, { ber, loss: current?.now }, canvas)}
      of={[answers, ber, current?.value]}
      rows={() => [
        ["code", "bit_error_ratio", "frame_loss_ratio"],
        ...cliffs.flatMap(({ value, points }) => points.map(([one, loss]) => [value, one, loss])),
      ]}
      isBusy={isBusy}
    >
      <CliffTable cliffs={cliffs} ber={ber} />
    </Figure>
  );
}

function cliffSummary(current: Found | undefined, ber: number): string {
  if (!current || current.now === undefined) return "The first curve is on its way.";
  const [low, high] = EDGES.map((edge) => berAt(current.points, edge));
  const now = `Behind ${current.label} a bit error ratio of ${digits(ber, 3)} loses ${digits(current.now, 2)} of the frames.`;
  if (low === undefined || high === undefined) return now;
  return `${now} Between a loss of 1e-8 and one of 1e-3 the bit error ratio grows by a factor of ${digits(high / low, 2)}.`;
}

function CliffTable({ cliffs, ber }: { cliffs: Found[]; ber: number }) {
  return (
    <Scrolled label="Losses behind each code" caption="Share of frames lost at this bit error ratio, and bit error ratios at the edges of the cliff">
      <table>
        <thead>
          <tr>
            <th scope="col">code</th>
            <th scope="col" class="number">
              loss at {digits(ber, 3)}
            </th>
            {EDGES.map((edge) => (
              <th key={edge} scope="col" class="number">
                bit error ratio for a loss of {edge.toExponential()}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cliffs.map(({ value, label, points, now }) => (
            <tr key={value}>
              <th scope="row">{label}</th>
              <td class="number">{now === undefined ? "-" : digits(now, 2)}</td>
              {EDGES.map((edge) => {
                const at = berAt(points, edge);
                return (
                  <td key={edge} class="number">
                    {at === undefined ? "-" : digits(at, 2)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}
