// How to repeat what a view shows: command lines, scenario files, and a link.

import { useState } from "preact/hooks";
import { commandLine, scenarioFile, type Repeated } from "../catalogue/repeat.ts";

/** Commands and files of the experiments of a view, and the link to the view. */
export function Repeat({ runs, commands = [] }: { runs: Repeated[]; commands?: string[] }) {
  return (
    <section class="repeat" aria-labelledby="repeat-title">
      <h2 id="repeat-title">Repeat this</h2>
      {[...runs.map(commandLine), ...commands].map((command) => (
        <Copied key={command} label="Command" text={command} />
      ))}
      {runs.map((run) => (
        <details key={run.experiment}>
          <summary>Scenario file of {run.experiment}</summary>
          <Copied label={`Scenario file of ${run.experiment}`} text={scenarioFile(run)} />
        </details>
      ))}
      <CopyButton label="Copy a link to this view" text={() => location.href} />
    </section>
  );
}

/** A text with a button that copies it. */
export function Copied({ label, text }: { label: string; text: string }) {
  return (
    <div class="copied">
      <pre tabIndex={0} aria-label={label}>
        <code>{unbroken(text)}</code>
      </pre>
      <CopyButton label={`Copy the ${label.charAt(0).toLowerCase()}${label.slice(1)}`} short="Copy" text={() => text} />
    </div>
  );
}

/** Words that stay whole where they have room: a browser may break a line inside `--set`. */
function unbroken(text: string) {
  return text.split(/(\s+)/).map((word, place) => (place % 2 === 1 ? word : <span key={place}>{word}</span>));
}

function CopyButton({ label, short, text }: { label: string; short?: string; text: () => string }) {
  const [told, setTold] = useState("");
  const copy = () =>
    copied(text()).then(
      () => setTold("Copied"),
      () => setTold("Select the text and copy it: this browser does not let the page copy"),
    );
  return (
    <span class="copy">
      <button type="button" class="quiet" aria-label={short ? label : undefined} onClick={() => void copy()}>
        {short ?? label}
      </button>
      <span role="status">{told}</span>
    </span>
  );
}

async function copied(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (!isDone) throw new Error("refused");
}
