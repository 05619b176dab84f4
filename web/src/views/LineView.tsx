// Behind the frame: bit errors of a line, what its code leaves of them, and what flows meet.

import { useStudy } from "../pieces/use-study.ts";
import type { Outcome, Symbols } from "../simulator/protocol.ts";
import { CliffFigure, cliffJobs } from "./CliffFigure.tsx";
import { FlowFigures, moreFlows } from "./FlowFigures.tsx";
import { jobsOf, partsOf, repeatedOf } from "./flow-study.ts";
import { pickedOf, type ViewProps } from "./props.ts";
import { Shell } from "./Shell.tsx";
import { SYMBOLS, SymbolsFigure, symbolsJobs } from "./SymbolsFigure.tsx";

/** The view: the cliff first, then wrong symbols beside a histogram of a switch, then what flows meet. */
export function LineView(props: ViewProps) {
  const { catalogue, state } = props;
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
    <Shell {...props} name="line" view={view} study={study} errors={refusals} runs={repeatedOf(parts, picked, state.values)}>
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
    </Shell>
  );
}
