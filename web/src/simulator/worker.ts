// The worker: gets the compiled module once, then requests one after another.

import { instantiate } from "./glue.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

const scope = self as unknown as DedicatedWorkerGlobalScope;
let ask: ((text: string) => string) | undefined;
let current = 0;

const tell = (answer: FromWorker) => scope.postMessage(answer);

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) {
    ask = instantiate(data.module, (text) => tell({ number: current, text, last: false }));
    return;
  }
  current = data.number;
  const text = ask ? ask(data.text) : JSON.stringify({ error: "the simulator has no module; load the page again" });
  tell({ number: current, text, last: true });
};
