// The shell of a view with runs: knobs and protections on one side, figures on the other, and what repeats them below.

import type { ComponentChildren } from "preact";
import type { Repeated } from "../catalogue/repeat.ts";
import type { View } from "../catalogue/types.ts";
import { Controls, Errors } from "../pieces/Controls.tsx";
import { Knobs } from "../pieces/Knobs.tsx";
import { Notes } from "../pieces/Notes.tsx";
import { Progress } from "../pieces/Progress.tsx";
import { Protections } from "../pieces/Protections.tsx";
import { Repeat } from "../pieces/Repeat.tsx";
import type { Study } from "../pieces/use-study.ts";
import { picksOf } from "../state/state.ts";
import type { ViewName } from "../state/views.ts";
import { setterOf, type ViewProps } from "./props.ts";

interface Props extends ViewProps {
  name: ViewName;
  view: View;
  study: Study<unknown>;
  /** What the simulator refused, where the figures do not tell it themselves. */
  errors?: Map<string, string>;
  runs: Repeated[];
  /** The figures. */
  children: ComponentChildren;
}

/** Shows a view; another protection begins at the first step. */
export function Shell({ name, view, study, errors = study.errors, runs, children, ...props }: Props) {
  const { catalogue, state, onChange } = props;
  return (
    <div class="view" data-busy={study.isBusy}>
      <Controls>
        <Knobs knobs={view.knobs} values={state.values} onSet={setterOf(props)} />
        <Protections
          spellings={catalogue.protections}
          picks={state.picks}
          many={picksOf(name) === "several"}
          onPick={(picks, isMoving) => onChange({ picks, step: null }, isMoving)}
        />
      </Controls>
      <div class="figures">
        <Errors errors={errors} />
        <Progress {...study} onStop={study.stop} />
        {children}
        <Notes notes={view.notes} values={state.values} />
        <Repeat runs={runs} />
      </div>
    </div>
  );
}
