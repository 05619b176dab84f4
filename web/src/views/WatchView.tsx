// Watch a packet: the timeline of one flow that loses one frame, step by step.

import { useMemo, useState } from "preact/hooks";
import type { Json } from "../catalogue/json.ts";
import type { Repeated } from "../catalogue/repeat.ts";
import { resolve, withValues } from "../catalogue/rules.ts";
import type { Experiment, Values } from "../catalogue/types.ts";
import { drawTimeline } from "../figure/timeline.ts";
import { layoutOf, type Layout } from "../figure/timeline-layout.ts";
import { Figure } from "../pieces/Figure.tsx";
import { FrameTable, KindBoxes, Steps } from "../pieces/Frames.tsx";
import { StateTable } from "../pieces/States.tsx";
import { useStudy } from "../pieces/use-study.ts";
import type { FrameKind, Watched, WatchRequest } from "../simulator/protocol.ts";
import { stateAt } from "../words/states.ts";
import { frameWords, storyOf } from "../words/watched.ts";
import { partsOf, repeatedOf } from "./flow-study.ts";
import { pickedOf, type ViewProps } from "./props.ts";
import { Shell } from "./Shell.tsx";

/** A request for the frames of a flow; where the catalogue says so, the packet that is lost goes along. */
function watchRequest(experiment: Experiment, values: Values, protection: Json): WatchRequest {
  const { configuration } = resolve(experiment, values, protection);
  const { lost } = experiment;
  return { do: "watch", configuration, ...(lost ? { lost: Number(values[lost.knob]) } : {}) };
}

/** What repeats a watched flow: the lost packet by its place on the link, its frames, and the state at the step. */
function watchedRuns(runs: Repeated[], { lost }: Experiment, watched: Watched, step: number | null): Repeated[] {
  const { position } = watched;
  const isPlaced = lost && position !== undefined && position !== null;
  const found = Object.entries(isPlaced ? lost.settings : {}).map(([key, text]) => [key, withValues(text, { position: position ?? 0 })]);
  const state = stateAt(watched, step);
  const looks = [`--pcap ${watched.link}=link.pcapng`, ...(state ? [`--state-at ${state.at_us}us`] : [])];
  return runs.map((run) => ({ ...run, settings: { ...run.settings, ...Object.fromEntries(found) }, looks }));
}

/** The view, with the timeline and the buttons that step through it. */
export function WatchView(props: ViewProps) {
  const { catalogue, state, onChange } = props;
  const view = catalogue.views["watch"];
  const picked = pickedOf(catalogue, state.picks).slice(0, 1);
  const parts = view ? partsOf(catalogue, view, state.values).slice(0, 1) : [];
  const jobs = parts.flatMap(({ experiment }) =>
    picked.map(({ text, value }) => ({
      key: text,
      request: watchRequest(experiment, state.values, value),
    })),
  );
  const study = useStudy<Watched>(jobs);
  const watched = study.answers.get(picked[0]?.text ?? "");
  const experiment = parts[0]?.experiment;
  if (!view) return null;
  const repeated = repeatedOf(parts, picked, state.values);
  const runs = experiment && watched ? watchedRuns(repeated, experiment, watched, state.step) : repeated;
  return (
    <Shell {...props} name="watch" view={view} study={study} runs={runs}>
      {watched && <Timeline watched={watched} step={state.step} isBusy={study.isBusy} onStep={(step) => onChange({ step }, true)} />}
    </Shell>
  );
}

interface TimelineProps {
  watched: Watched;
  step: number | null;
  isBusy: boolean;
  onStep: (step: number | null) => void;
}

function Timeline({ watched, step, isBusy, onStep }: TimelineProps) {
  const [hidden, setHidden] = useState<FrameKind[]>([]);
  const layout = useMemo(() => layoutOf(watched, hidden), [watched, hidden]);
  const [isLinkOnly, setLinkOnly] = useState(true);
  const steps = layout.arrows.filter((arrow) => !isLinkOnly || isOnLink(layout, arrow.seen.hop, watched));
  const current = step === null ? undefined : watched.frames[step];
  return (
    <div class="watch">
      <Figure
        name="lossylink-watch"
        title="Frames of one flow"
        summary={storyOf(watched)}
        draw={(canvas) => drawTimeline(layout, current ? step : null, canvas)}
        of={[layout, step]}
        rows={() => frameRows(watched)}
        isBusy={isBusy}
        scrolls
        onDrawn={(svg) => {
          keepHeads(svg);
          scrollToCurrent(svg);
        }}
        above={
          <>
            <KindBoxes frames={watched.frames} hidden={hidden} onHide={setHidden} />
            <Steps steps={steps.map((arrow) => arrow.index)} frames={watched.frames} step={current ? step : null} isLinkOnly={isLinkOnly} onLinkOnly={setLinkOnly} onStep={onStep} />
            <p class="words" role="status" aria-live="polite">
              {current ? frameWords(current) : "Step through the frames with the buttons or with the arrow keys."}
            </p>
          </>
        }
      >
        <StateTable watched={watched} step={current ? step : null} />
        <FrameTable frames={watched.frames} onStep={onStep} />
      </Figure>
    </div>
  );
}

function isOnLink(layout: Layout, hop: string, { hops }: Watched): boolean {
  return hops.indexOf(hop) === layout.link[0];
}

/** Keeps the names of the lanes in sight. */
function keepHeads(svg: SVGElement): void {
  const box = svg.parentElement;
  const heads = svg.querySelector("[data-heads]");
  if (!box || !heads) return;
  const follow = () => heads.setAttribute("transform", `translate(0 ${Math.max(0, box.scrollTop - 6)})`);
  box.onscroll = follow;
  follow();
}

/** What stands above the lost frame in the picture, as a share of its place: readers want to see what comes after the loss. */
const ABOVE_LOSS = 0.3;

/** Brings the frame of the step, or at first the lost frame, into the part of the picture that is seen. */
function scrollToCurrent(svg: SVGElement): void {
  const current = svg.querySelector("[data-current]");
  const frame = current ?? svg.querySelector("[data-lost]");
  const box = svg.parentElement;
  if (!frame || !box) return;
  const [inside, outside] = [frame.getBoundingClientRect(), box.getBoundingClientRect()];
  if (!current) box.scrollTop += inside.top - outside.top - ABOVE_LOSS * outside.height;
  else if (inside.top < outside.top + 40) box.scrollTop += inside.top - outside.top - 60;
  else if (inside.bottom > outside.bottom - 20) box.scrollTop += inside.bottom - outside.bottom + 80;
}

function frameRows(watched: Watched): (string | number | null)[][] {
  return [
    ["at_us", "hop", "direction", "kind", "octets", "lost", "words"],
    ...watched.frames.map((seen) => [seen.at_us, seen.hop, seen.direction, seen.kind, seen.octets, seen.lost ? 1 : 0, seen.words]),
  ];
}
