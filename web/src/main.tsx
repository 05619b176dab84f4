// The beginning: reads what the page carries, starts the crew, and shows the page.

import { render } from "preact";
import workerScript from "worker:./simulator/worker.ts";
import { App } from "./App.tsx";
import { embeddedCatalogue, embeddedModule, workerStarter } from "./embedded.ts";
import { CrewContext } from "./pieces/use-study.ts";
import { Crew } from "./simulator/crew.ts";
import { Simulator } from "./simulator/simulator.ts";
import { chosenCatalogue } from "./served.ts";

const MOST_WORKERS = 3;

const module = embeddedModule();
const workers = Math.min(MOST_WORKERS, Math.max(1, navigator.hardwareConcurrency || 1));
const startWorker = workerStarter(workerScript);
const crew = new Crew(Array.from({ length: workers }, () => new Simulator(startWorker, module)));

async function show(place: HTMLElement): Promise<void> {
  const { catalogue, problem } = await chosenCatalogue(embeddedCatalogue());
  render(
    <CrewContext.Provider value={crew}>
      <App catalogue={catalogue} problem={problem} />
    </CrewContext.Provider>,
    place,
  );
}

const place = document.getElementById("page");
if (place) void show(place);
