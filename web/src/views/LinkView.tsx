// One link: what users of a link that corrupts packets meet, under each protection.

import { shown } from "../catalogue/rules.ts";
import { drawTail, tailRows, type Tail } from "../figure/tail.ts";
import { Controls, Errors } from "../pieces/Controls.tsx";
import { Figure } from "../pieces/Figure.tsx";
import { Knobs } from "../pieces/Knobs.tsx";
import { Notes } from "../pieces/Notes.tsx";
import { Progress } from "../pieces/Progress.tsx";
import { Protections } from "../pieces/Protections.tsx";
import { Repeat } from "../pieces/Repeat.tsx";
import { HeadlineTable, PercentileTable, type Line } from "../pieces/Tables.tsx";
import { useStudy } from "../pieces/use-study.ts";
import { MOST_FLOWS } from "../state/fragment.ts";
import { count, counted } from "../words/numbers.ts";
import { tailSentence } from "../words/percentiles.ts";
import { jobsOf, keyOf, partsOf, repeatedOf, type Part } from "./flow-study.ts";
import { pickedOf, setterOf, type ViewProps } from "./props.ts";

/** The view, its knobs on one side and its figures on the other. */
export function LinkView(props: ViewProps) {
  const { catalogue, state, onChange } = props;
  const view = catalogue.views["link"];
  const picked = pickedOf(catalogue, state.picks);
  const parts = view ? partsOf(catalogue, view, state.values, state.flows) : [];
  const study = useStudy(jobsOf(parts, picked, state.values));
  if (!view) return null;
  const linesOf = (part: Part): Line[] =>
    picked.map((one) => ({ ...one, outcome: study.answers.get(keyOf(part.name, one.text)) }));
  const inFlows = parts.find((part) => part.looks);
  const flows = inFlows ? linesOf(inFlows) : [];
  const tails: Tail[] = flows.flatMap((line) =>
    line.outcome?.flows ? [{ label: line.label, look: line.look, flows: line.outcome.flows }] : [],
  );
  const shownFlows = tails.length > 0 ? Math.min(...tails.map((tail) => tail.flows.count)) : 0;
  return (
    <div class="view">
      <Controls>
        <Knobs knobs={shown(view.knobs, state.values)} values={state.values} onSet={setterOf(props)} />
        <Protections spellings={catalogue.protections} picks={state.picks} many onPick={(picks, isMoving) => onChange({ picks }, isMoving)} />
        <Errors errors={study.errors} />
      </Controls>
      <div class="figures">
        <Progress {...study} onStop={study.stop} />
        {inFlows && (
          <Figure
            name={`lossylink-${inFlows.name}`}
            title="Completion times of flows"
            summary={tailSentence(tails, catalogue.percentiles)}
            draw={(canvas) => drawTail(tails, catalogue.percentiles, canvas)}
            of={[study.answers, picked.map((one) => one.text).join()]}
            rows={() => tailRows(tails)}
            isBusy={study.isBusy}
          >
            <Looks part={inFlows} flows={shownFlows} isBusy={study.isBusy} onMore={(more) => onChange({ flows: more })} />
            <PercentileTable catalogue={catalogue} lines={flows} />
          </Figure>
        )}
        {parts.map((part) => (
          <HeadlineTable key={part.name} catalogue={catalogue} experiment={part.experiment} lines={linesOf(part)} />
        ))}
        <Notes notes={view.notes} values={state.values} />
        <Repeat runs={repeatedOf(parts, picked, state.values)} />
      </div>
    </div>
  );
}

/** How many flows the picture has, and a button for ten times as many. */
function Looks({ part, flows, isBusy, onMore }: { part: Part; flows: number; isBusy: boolean; onMore: (flows: number) => void }) {
  const last = part.looks?.at(-1) ?? 0;
  const more = Math.min(last * 10, MOST_FLOWS);
  return (
    <p class="looks" data-flows={flows}>
      <span>
        {isBusy && flows < last
          ? `${counted(flows, "flow")} a protection so far, of ${count(last)}.`
          : `${counted(flows, "flow")} a protection.`}
      </span>
      {more > last && (
        <button type="button" class="quiet" onClick={() => onMore(more)}>
          Run {count(more)} flows
        </button>
      )}
    </p>
  );
}
