// One request at a time in a worker; a newer request ends an older one.

import type { FromWorker, Request, ToWorker } from "./protocol.ts";

/** What a simulator needs of a worker. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

/** Milliseconds for which a newer request waits, before it ends a busy worker: less than a worker takes to start. */
const GRACE_MS = 20;

interface Running {
  number: number;
  onAnswer: (answer: unknown) => void;
  end: () => void;
  isDropped: boolean;
}

/** Runs requests in a worker that it replaces when a newer request comes. */
export class Simulator {
  #make: () => WorkerLike;
  #module: Promise<WebAssembly.Module>;
  #worker: WorkerLike | undefined;
  #spare: WorkerLike | undefined;
  #running: Running | undefined;
  #idle: (() => void)[] = [];
  #number = 0;

  /** `make` starts a worker; each worker gets the compiled module. */
  constructor(make: () => WorkerLike, module: Promise<WebAssembly.Module>) {
    this.#make = make;
    this.#module = module;
  }

  /** Runs a request, after an older one was dropped; ends with the last answer, or when the request is dropped. */
  async run(request: Request, onAnswer: (answer: unknown) => void): Promise<void> {
    const number = ++this.#number;
    const module = await this.#module;
    if (number !== this.#number) return;
    await this.#makeIdle();
    if (number !== this.#number) return;
    const worker = (this.#worker ??= this.#take(module));
    this.#spare ??= this.#start(module);
    await new Promise<void>((end) => {
      this.#running = { number, onAnswer, end, isDropped: false };
      worker.postMessage({ number, text: JSON.stringify(request) });
    });
  }

  /** Drops what runs and what waits. */
  stop(): void {
    this.#number += 1;
    this.#terminate();
  }

  /** Ends the workers; the simulator is of no use afterwards. */
  close(): void {
    this.stop();
    this.#spare?.terminate();
    this.#spare = undefined;
  }

  async #makeIdle(): Promise<void> {
    if (!this.#running) return;
    this.#running.isDropped = true;
    await new Promise<void>((idle) => {
      this.#idle.push(idle);
      setTimeout(() => this.#running?.isDropped && this.#terminate(), GRACE_MS);
    });
  }

  #take(module: WebAssembly.Module): WorkerLike {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare ?? this.#start(module);
  }

  #start(module: WebAssembly.Module): WorkerLike {
    const worker = this.#make();
    worker.onmessage = ({ data }) => this.#hear(worker, data);
    worker.onerror = (event) => this.#fail(worker, event.message);
    worker.postMessage({ module });
    return worker;
  }

  #hear(worker: WorkerLike, answer: FromWorker): void {
    const running = this.#running;
    if (worker !== this.#worker || running?.number !== answer.number) return;
    if (!running.isDropped) running.onAnswer(JSON.parse(answer.text));
    if (answer.last) this.#end();
  }

  #fail(worker: WorkerLike, message: string): void {
    if (worker === this.#spare) this.#spare = undefined;
    if (worker !== this.#worker) return;
    const running = this.#running;
    if (running && !running.isDropped) running.onAnswer({ error: `the simulator stopped: ${message || "no reason given"}` });
    this.#terminate();
  }

  #terminate(): void {
    if (!this.#running) return;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#end();
  }

  #end(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.end();
    for (const idle of this.#idle.splice(0)) idle();
  }
}
