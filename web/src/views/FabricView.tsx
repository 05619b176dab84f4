// Fabric: a year of failures and repairs, as the capacity that is left and the losses that hosts see.

import { drawSteps, type Steps } from "../figure/steps.ts";
import { Figure } from "../pieces/Figure.tsx";
import { HeadlineTable, type Line } from "../pieces/Tables.tsx";
import { useStudy } from "../pieces/use-study.ts";
import type { Outcome } from "../simulator/protocol.ts";
import { digits, listed } from "../words/numbers.ts";
import { inDays, worstWeek } from "./fabric-days.ts";
import { jobsOf, keyOf, partsOf, repeatedOf, type Part } from "./flow-study.ts";
import { pickedOf, type ViewProps } from "./props.ts";
import { Shell } from "./Shell.tsx";

/** The quantities of a fabric that are drawn: a column of the table `events`, and the key of the row that is its whole. */
const QUANTITIES = [
  { name: "capacity", title: "Least capacity of a pod", column: "capacity_gbps_least", whole: "pod_gbps", label: "capacity (%)", isLog: false },
  { name: "penalty", title: "Total penalty", column: "effective_penalty", whole: null, label: "sum of loss ratios", isLog: true },
  { name: "paths", title: "Least paths of a ToR switch", column: "paths_least", whole: "paths_per_tor", label: "paths (%)", isLog: false },
] as const;

/** The view, with a figure for each quantity. */
export function FabricView(props: ViewProps) {
  const { catalogue, state, onChange } = props;
  const view = catalogue.views["fabric"];
  const picked = pickedOf(catalogue, state.picks);
  const parts = view ? partsOf(catalogue, view, state.values) : [];
  const study = useStudy(jobsOf(parts, picked, state.values));
  if (!view) return null;
  const linesOf = (part: Part): Line[] =>
    picked.map((one) => ({ ...one, outcome: study.answers.get(keyOf(part.name, one.text)) }));
  const lines = parts[0] ? linesOf(parts[0]) : [];
  const events = lines.flatMap(({ outcome }) => (outcome?.tables["events"] ? [outcome.tables["events"]] : []));
  const isWeek = state.span === "week";
  const span = isWeek ? worstWeek(events) : undefined;
  return (
    <Shell {...props} name="fabric" view={view} study={study} runs={repeatedOf(parts, picked, state.values)}>
      <label class="tick">
        <input
          type="checkbox"
          checked={isWeek}
          onChange={(event) => onChange({ span: event.currentTarget.checked ? "week" : "all" })}
        />
        Only the week with the least capacity
      </label>
      {QUANTITIES.map(({ name, title, column, whole, label, isLog }) => {
        const steps = lines.flatMap((line): Steps[] => {
          const points = line.outcome ? pointsOf(line.outcome, column, whole, span) : [];
          return points.length > 0 ? [{ label: line.label, look: line.look, points }] : [];
        });
        return (
          <Figure
            key={name}
            name={`lossylink-fabric-${name}`}
            title={title}
            summary={summaryOf(steps, isLog)}
            draw={(canvas) => drawSteps(steps, { label, isLog }, canvas)}
            of={[study.answers, isWeek]}
            rows={() => [
              ["protection", "time_days", `${name}_${isLog ? "ratio" : "percent"}`],
              ...steps.flatMap((one) => one.points.map(([day, value]) => [one.label, day, value])),
            ]}
            isBusy={study.isBusy}
          />
        );
      })}
      {parts.map((part) => (
        <HeadlineTable key={part.name} catalogue={catalogue} experiment={part.experiment} lines={linesOf(part)} />
      ))}
    </Shell>
  );
}

function pointsOf(outcome: Outcome, column: string, whole: string | null, span?: [number, number]): [number, number][] {
  const events = outcome.tables["events"];
  const full = whole === null ? undefined : Number(outcome.row[whole]);
  return inDays(events?.["time_s"] ?? [], events?.[column] ?? [], full ? 100 / full : 1, span);
}

function summaryOf(steps: Steps[], isLog: boolean): string {
  if (steps.length === 0) return "The first year is on its way.";
  const parts = steps.map(({ label, points }) => {
    const values = points.map(([, value]) => value);
    const worst = values.reduce((one, other) => (isLog ? Math.max(one, other) : Math.min(one, other)));
    return { label, value: isLog ? digits(worst, 3) : `${digits(worst, 3)} %` };
  });
  const [first = 0, last = 0] = [steps[0]?.points[0]?.[0], steps[0]?.points.at(-1)?.[0]];
  const worst = isLog ? "The greatest value" : "The least value";
  const values = new Set(parts.map(({ value }) => value));
  const found = values.size === 1 && parts.length > 1 ? `${parts[0]?.value} with each protection` : listed(parts.map(({ value, label }) => `${value} with ${label}`));
  return `${worst} from day ${digits(first, 3)} to day ${digits(last, 3)}: ${found}. Each event is a step.`;
}
