// The completion times of flows, and the figures of all experiments of a view.

import type { Catalogue, NumberKnob, View } from "../catalogue/types.ts";
import { drawTail, tailRows, type Tail } from "../figure/tail.ts";
import { Figure } from "../pieces/Figure.tsx";
import { HeadlineTable, PercentileTable, type Line } from "../pieces/Tables.tsx";
import type { Outcome } from "../simulator/protocol.ts";
import { count, counted } from "../words/numbers.ts";
import { tailSentence } from "../words/percentiles.ts";
import { keyOf, type Part } from "./flow-study.ts";
import type { Picked, ViewProps } from "./props.ts";

interface Props {
  catalogue: Catalogue;
  parts: Part[];
  picked: Picked[];
  answers: Map<string, Outcome>;
  isBusy: boolean;
  onMore: More | null;
}

/** What sets the knob of the flows. */
interface More {
  most: number;
  set: (flows: number) => void;
}

/** The knob of flows of a view, by the key of `--set` that it sets. */
const FLOWS = "flow.trials";

/** What runs more flows, if the view has a knob for it. */
export function moreFlows(view: View, { state, onChange }: ViewProps): More | null {
  const knob = view.knobs.find((one): one is NumberKnob => one.kind === "number" && one.id === FLOWS);
  return knob ? { most: knob.max, set: (flows) => onChange({ values: { ...state.values, [FLOWS]: flows } }) } : null;
}

/** The curve of the first experiment in flows, and a table for each experiment. */
export function FlowFigures({ catalogue, parts, picked, answers, isBusy, onMore }: Props) {
  const linesOf = (part: Part): Line[] =>
    picked.map((one) => ({ ...one, outcome: answers.get(keyOf(part.name, one.text)) }));
  const inFlows = parts.find((part) => part.looks);
  const lines = inFlows ? linesOf(inFlows) : [];
  const tails: Tail[] = lines.flatMap(({ label, look, outcome }) => (outcome?.flows ? [{ label, look, flows: outcome.flows }] : []));
  const flows = tails.length > 0 ? Math.min(...tails.map((tail) => tail.flows.count)) : 0;
  return (
    <>
      {inFlows && (
        <Figure
          name={`lossylink-${inFlows.name}`}
          title="Completion times of flows"
          summary={noTails(picked, tails, isBusy) ?? tailSentence(tails, catalogue.percentiles)}
          draw={(canvas) => drawTail(tails, catalogue.percentiles, canvas)}
          of={[answers, picked.map((one) => one.text).join()]}
          rows={() => tailRows(tails)}
          isBusy={isBusy}
        >
          <Looks part={inFlows} flows={flows} isBusy={isBusy} onMore={onMore} />
          {tails.length > 0 && <PercentileTable catalogue={catalogue} lines={lines} />}
        </Figure>
      )}
      {parts.map((part) => (
        <HeadlineTable key={part.name} catalogue={catalogue} experiment={part.experiment} lines={linesOf(part)} />
      ))}
    </>
  );
}

/** Why there is no curve, where there is none. */
function noTails(picked: Picked[], tails: Tail[], isBusy: boolean): string | null {
  if (picked.length === 0) return "No protection is picked.";
  if (tails.length > 0) return null;
  return isBusy ? "The first flows are on their way." : "No flows have run.";
}

/** How many flows the picture has, and a button for ten times as many. */
function Looks({ part, flows, isBusy, onMore }: { part: Part; flows: number; isBusy: boolean; onMore: More | null }) {
  const last = part.looks?.at(-1) ?? 0;
  const more = Math.min(last * 10, onMore?.most ?? 0);
  return (
    <p class="looks" data-flows={flows}>
      <span>
        {isBusy && flows < last
          ? `${counted(flows, "flow")} a protection so far, of ${count(last)}.`
          : `${counted(flows, "flow")} a protection.`}
      </span>
      {onMore && more > last && (
        <button type="button" class="quiet" onClick={() => onMore.set(more)}>
          Run {count(more)} flows
        </button>
      )}
    </p>
  );
}
