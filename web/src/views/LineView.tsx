// Behind the frame: bit errors of a line, what its code leaves of them, and what flows meet.

import { shown, spellingsOf } from "../catalogue/rules.ts";
import { Controls, Errors } from "../pieces/Controls.tsx";
import { Knobs } from "../pieces/Knobs.tsx";
import { Notes } from "../pieces/Notes.tsx";
import { Progress } from "../pieces/Progress.tsx";
import { Protections } from "../pieces/Protections.tsx";
import { Repeat } from "../pieces/Repeat.tsx";
import { useStudy } from "../pieces/use-study.ts";
import type { Outcome, Symbols } from "../simulator/protocol.ts";
import { CliffFigure, cliffJobs } from "./CliffFigure.tsx";
import { FlowFigures, moreFlows } from "./FlowFigures.tsx";
import { jobsOf, partsOf, repeatedOf } from "./flow-study.ts";
import { pickedOf, setterOf, type ViewProps } from "./props.ts";
import { SYMBOLS, SymbolsFigure, symbolsJobs } from "./SymbolsFigure.tsx";

/** The view: the cliff first, then wrong symbols beside a histogram of a switch, then what flows meet. */
export function LineView(props: ViewProps) {
  const { catalogue, state, onChange } = props;
  const view = catalogue.views["line"];
  const picked = pickedOf(catalogue, state.picks);
  const parts = view ? partsOf(catalogue, view, state.values) : [];
  const study = useStudy<unknown>([
    ...(view ? cliffJobs(view, parts, state.values) : []),
    ...symbolsJobs(parts, state.values),
    ...jobsOf(parts, picked, state.values),
  ]);
  if (!view) return null;
  const answers = study.answers as Map<string, Outcome>;
  const refusals = new Map([...study.errors].filter(([key]) => key !== SYMBOLS));
  return (
    <div class="view" data-busy={study.isBusy}>
      <Controls>
        <Knobs knobs={shown(view.knobs, state.values)} values={state.values} onSet={setterOf(props)} />
        <Protections
          spellings={spellingsOf(catalogue, view)}
          picks={state.picks}
          many
          onPick={(picks, isMoving) => onChange({ picks }, isMoving)}
        />
      </Controls>
      <div class="figures">
        <Errors errors={refusals} />
        <Progress {...study} onStop={study.stop} />
        <CliffFigure view={view} values={state.values} answers={study.answers} isBusy={study.isBusy} />
        <SymbolsFigure
          view={view}
          values={state.values}
          symbols={study.answers.get(SYMBOLS) as Symbols | undefined}
          refusal={study.errors.get(SYMBOLS)}
          isBusy={study.isBusy}
        />
        <FlowFigures
          catalogue={catalogue}
          parts={parts}
          picked={picked}
          answers={answers}
          isBusy={study.isBusy}
          onMore={moreFlows(view, props)}
        />
        <Notes notes={view.notes} values={state.values} />
        <Repeat runs={repeatedOf(parts, picked, state.values)} />
      </div>
    </div>
  );
}
