// A study: the jobs of a view, run again when one of them changes, and what they have answered so far.

import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { createContext } from "preact";
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

interface Kept<Answer> {
  answers: Map<string, Answer>;
  errors: Map<string, string>;
  done: number;
  isBusy: boolean;
}

/** Runs jobs when they change; the first answer comes from the first look. */
export function useStudy<Answer = Outcome>(jobs: Job[]): Study<Answer> {
  const crew = useContext(CrewContext);
  const [kept, setKept] = useState<Kept<Answer>>({ answers: new Map(), errors: new Map(), done: 0, isBusy: true });
  const text = JSON.stringify(jobs);
  const isAlive = useRef(true);
  useEffect(() => () => void (isAlive.current = false), []);
  useEffect(() => {
    if (!crew) return;
    const keys = new Set(jobs.map((job) => job.key));
    const isWanted = ([key]: [string, unknown]) => keys.has(key);
    setKept((old) => ({
      answers: new Map([...old.answers].filter(isWanted)),
      errors: new Map(),
      done: 0,
      isBusy: jobs.length > 0,
    }));
    stamp("change");
    let isFirst = true;
    const hear = (job: Job, answer: unknown) => {
      if (isFirst) requestAnimationFrame(() => stamp("first"));
      isFirst = false;
      setKept((old) => heard(old, job, answer));
    };
    const end = (isDone: boolean) => {
      if (!isDone || !isAlive.current) return;
      setKept((old) => ({ ...old, isBusy: false }));
      requestAnimationFrame(() => stamp("final"));
    };
    crew.run(jobs, hear).then(end, (problem: unknown) => {
      const errors = new Map([["", `the simulator does not start: ${String(problem)}`]]);
      setKept((old) => ({ ...old, errors, isBusy: false }));
    });
    return () => crew.stop();
  }, [text, crew]);
  const stop = useCallback(() => {
    crew?.stop();
    setKept((old) => ({ ...old, isBusy: false }));
  }, [crew]);
  return { ...kept, of: jobs.length, stop };
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
