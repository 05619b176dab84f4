// A study: the jobs of a view, run again when one of them changes, and what they have answered so far.

import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import type { Crew, Job } from "../simulator/crew.ts";
import { isRefusal, type Outcome } from "../simulator/protocol.ts";

/** The crew that runs the studies of the page. */
export const CrewContext = createContext<Crew | null>(null);

export interface Study<Answer> {
  /** The newest answer to each key; older ones stay until newer ones come. */
  answers: Map<string, Answer>;
  /** What the simulator refused, by key. */
  errors: Map<string, string>;
  isBusy: boolean;
  done: number;
  of: number;
  stop: () => void;
}

type Kept<Answer> = Pick<Study<Answer>, "answers" | "errors" | "isBusy" | "done">;

/** Runs jobs when they change; the first answers come from the first looks. Answers of one frame are shown together. */
export function useStudy<Answer = Outcome>(jobs: Job[]): Study<Answer> {
  const crew = useContext(CrewContext);
  const [kept, setKept] = useState<Kept<Answer>>({ answers: new Map(), errors: new Map(), done: 0, isBusy: true });
  const text = JSON.stringify(jobs);
  useEffect(() => {
    if (!crew) return;
    const shown = new Shown(setKept);
    setKept((old) => begun(old, jobs));
    stamp("change");
    crew.run(jobs, (job, answer) => shown.add(job, answer)).then(
      (isDone) => isDone && shown.end(),
      (problem: unknown) => shown.fail(`the simulator does not start: ${String(problem)}`),
    );
    return () => {
      shown.drop();
      crew.stop();
    };
  }, [text, crew]);
  const stop = useCallback(() => {
    crew?.stop();
    setKept((old) => ({ ...old, isBusy: false }));
  }, [crew]);
  return { ...kept, of: jobs.length, stop };
}

/** Shows the answers of one study, once a frame. */
class Shown<Answer> {
  #set: (change: (old: Kept<Answer>) => Kept<Answer>) => void;
  #waiting: [Job, unknown][] = [];
  #frame = 0;
  #isFirst = true;
  #isEnded = false;

  constructor(set: (change: (old: Kept<Answer>) => Kept<Answer>) => void) {
    this.#set = set;
  }

  add(job: Job, answer: unknown): void {
    this.#waiting.push([job, answer]);
    this.#ask();
  }

  end(): void {
    this.#isEnded = true;
    this.#ask();
  }

  fail(line: string): void {
    this.#set((old) => ({ ...old, errors: new Map([["", line]]), isBusy: false }));
  }

  drop(): void {
    cancelAnimationFrame(this.#frame);
    this.#waiting = [];
  }

  #ask(): void {
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  #show(): void {
    this.#frame = 0;
    const waiting = this.#waiting.splice(0);
    const isBusy = !this.#isEnded;
    this.#set((old) => ({ ...waiting.reduce((kept, [job, answer]) => heard(kept, job, answer), old), isBusy }));
    if (this.#isFirst && waiting.length > 0) setTimeout(() => stamp("first"));
    this.#isFirst &&= waiting.length === 0;
    if (this.#isEnded) setTimeout(() => stamp("final"));
  }
}

/** At the beginning older answers to the same questions stay. */
function begun<Answer>(old: Kept<Answer>, jobs: Job[]): Kept<Answer> {
  const keys = new Set(jobs.map((job) => job.key));
  const isSame = [...old.answers.keys()].every((key) => keys.has(key));
  const answers = isSame ? old.answers : new Map([...old.answers].filter(([key]) => keys.has(key)));
  return { answers, errors: new Map(), done: 0, isBusy: jobs.length > 0 };
}

function heard<Answer>(old: Kept<Answer>, job: Job, answer: unknown): Kept<Answer> {
  if (isRefusal(answer)) {
    const answers = new Map(old.answers);
    answers.delete(job.key);
    return { ...old, answers, errors: new Map(old.errors).set(job.key, answer.error), done: old.done + 1 };
  }
  const isLast = (answer as { final?: boolean }).final !== false;
  return { ...old, answers: new Map(old.answers).set(job.key, answer as Answer), done: old.done + (isLast ? 1 : 0) };
}

/** Marks of time that tests read: from a change to the first and to the final picture. */
function stamp(what: "change" | "first" | "final"): void {
  if (what === "change") performance.clearMarks();
  performance.mark(`lossylink-${what}`);
}
