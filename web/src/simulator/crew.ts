// Several simulators that share the jobs of one study; a newer study drops an older one.

import type { Request } from "./protocol.ts";
import type { Simulator } from "./simulator.ts";

/** A request with the name of what it is for. */
export interface Job {
  key: string;
  request: Request;
}

/** Runs the jobs of a study in their order, as many at once as there are simulators. */
export class Crew {
  #simulators: Simulator[];
  #study = 0;

  constructor(simulators: Simulator[]) {
    this.#simulators = simulators;
  }

  /** Runs a study; true when all jobs have ended, false when the study was dropped. */
  async run(jobs: Job[], onAnswer: (job: Job, answer: unknown) => void): Promise<boolean> {
    const study = ++this.#study;
    const waiting = [...jobs];
    const isDropped = () => study !== this.#study;
    const work = async (simulator: Simulator) => {
      if (waiting.length === 0) simulator.stop();
      for (let job = waiting.shift(); job && !isDropped(); job = waiting.shift()) {
        const current = job;
        await simulator.run(current.request, (answer) => isDropped() || onAnswer(current, answer));
      }
    };
    await Promise.all(this.#simulators.map(work));
    return !isDropped();
  }

  /** Drops the study. */
  stop(): void {
    this.#study += 1;
    for (const simulator of this.#simulators) simulator.stop();
  }
}
