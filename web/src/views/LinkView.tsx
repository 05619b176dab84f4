// One link: what users of a link that corrupts packets meet, under each protection.

import { useStudy } from "../pieces/use-study.ts";
import { FlowFigures, moreFlows } from "./FlowFigures.tsx";
import { jobsOf, partsOf, repeatedOf } from "./flow-study.ts";
import { pickedOf, type ViewProps } from "./props.ts";
import { Shell } from "./Shell.tsx";

/** The view, its knobs on one side and its figures on the other. */
export function LinkView(props: ViewProps) {
  const { catalogue, state } = props;
  const view = catalogue.views["link"];
  const picked = pickedOf(catalogue, state.picks);
  const parts = view ? partsOf(catalogue, view, state.values) : [];
  const study = useStudy(jobsOf(parts, picked, state.values));
  if (!view) return null;
  return (
    <Shell {...props} name="link" view={view} study={study} runs={repeatedOf(parts, picked, state.values)}>
      <FlowFigures
        catalogue={catalogue}
        parts={parts}
        picked={picked}
        answers={study.answers}
        isBusy={study.isBusy}
        onMore={moreFlows(view, props)}
      />
    </Shell>
  );
}
