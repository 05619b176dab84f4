// One link: what users of a link that corrupts packets meet, under each protection.

import { spellingsOf } from "../catalogue/rules.ts";
import { Controls, Errors } from "../pieces/Controls.tsx";
import { Knobs } from "../pieces/Knobs.tsx";
import { Notes } from "../pieces/Notes.tsx";
import { Progress } from "../pieces/Progress.tsx";
import { Protections } from "../pieces/Protections.tsx";
import { Repeat } from "../pieces/Repeat.tsx";
import { useStudy } from "../pieces/use-study.ts";
import { FlowFigures, moreFlows } from "./FlowFigures.tsx";
import { jobsOf, partsOf, repeatedOf } from "./flow-study.ts";
import { pickedOf, setterOf, type ViewProps } from "./props.ts";

/** The view, its knobs on one side and its figures on the other. */
export function LinkView(props: ViewProps) {
  const { catalogue, state, onChange } = props;
  const view = catalogue.views["link"];
  const picked = pickedOf(catalogue, state.picks);
  const parts = view ? partsOf(catalogue, view, state.values) : [];
  const study = useStudy(jobsOf(parts, picked, state.values));
  if (!view) return null;
  return (
    <div class="view" data-busy={study.isBusy}>
      <Controls>
        <Knobs knobs={view.knobs} values={state.values} onSet={setterOf(props)} />
        <Protections
          spellings={spellingsOf(catalogue, view)}
          picks={state.picks}
          many
          onPick={(picks, isMoving) => onChange({ picks }, isMoving)}
        />
      </Controls>
      <div class="figures">
        <Errors errors={study.errors} />
        <Progress {...study} onStop={study.stop} />
        <FlowFigures
          catalogue={catalogue}
          parts={parts}
          picked={picked}
          answers={study.answers}
          isBusy={study.isBusy}
          onMore={moreFlows(view, props)}
        />
        <Notes notes={view.notes} values={state.values} />
        <Repeat runs={repeatedOf(parts, picked, state.values)} />
      </div>
    </div>
  );
}
