// A histogram of wrong symbols that a switch printed, beside what the line of the knobs makes of its codewords.

import { useState } from "preact/hooks";
import { resolve } from "../catalogue/rules.ts";
import type { Values, View } from "../catalogue/types.ts";
import { save } from "../figure/export.ts";
import { drawSymbols, type SymbolShares } from "../figure/symbols.ts";
import { Figure } from "../pieces/Figure.tsx";
import { Copied } from "../pieces/Repeat.tsx";
import type { Job } from "../simulator/crew.ts";
import type { Symbols } from "../simulator/protocol.ts";
import * as histogram from "../words/histogram.ts";
import { count, digits } from "../words/numbers.ts";
import { lineKnobs } from "./CliffFigure.tsx";
import type { Part } from "./flow-study.ts";

/** The key of the shares among the answers. */
export const SYMBOLS = "symbols";
/** The file that the command reads. */
const FILE = "histogram.csv";
/** Longer texts are no histogram. */
const MOST_LETTERS = 20_000;
/** The pasted text: it outlives the view, and ends with the page. */
let kept = "";

/** The job that asks for the shares of the line of the knobs. */
export function symbolsJobs(parts: Part[], values: Values): Job[] {
  const experiment = parts[0]?.experiment;
  return experiment ? [{ key: SYMBOLS, request: { do: "symbols", configuration: resolve(experiment, values).configuration } }] : [];
}

interface Props {
  view: View;
  values: Values;
  symbols: Symbols | undefined;
  /** Why the line has no such shares. */
  refusal: string | undefined;
  isBusy: boolean;
}

/** The field for the histogram, the picture of both, and the command that estimates from it. */
export function SymbolsFigure({ view, values, symbols, refusal, isBusy }: Props) {
  const [text, setText] = useState(kept);
  const take = (next: string) => setText((kept = next));
  const code = lineKnobs(view.knobs)?.code;
  const name = code?.choices.find(({ value }) => value === values[code.id])?.label ?? "the code";
  if (!symbols) {
    return refusal ? (
      <section aria-labelledby="symbols-title">
        <h2 id="symbols-title">{TITLE}</h2>
        <p>{`No histogram behind ${name}: ${refusal}. Take another code.`}</p>
      </section>
    ) : null;
  }
  const { shares, problem } = sharesOf(text, symbols, name);
  return (
    <Figure
      name="lossylink-symbols"
      title={TITLE}
      summary={summaryOf(shares, symbols)}
      draw={(canvas) => drawSymbols(shares, canvas)}
      of={[text, symbols, name]}
      rows={() => [
        ["wrong_symbols", "codewords_counted", "counted_share", "line_share"],
        ...shares.bins.map((bin, place) => [
          bin.low > shares.corrects ? `${bin.low} or more` : histogram.binLabel(bin),
          shares.counted ? bin.codewords : null,
          shares.counted?.[place] ?? null,
          shares.model[place] ?? null,
        ]),
      ]}
      isBusy={isBusy}
      above={<Field text={text} problem={problem} onText={take} />}
    >
      {shares.counted && (
        <>
          <p>
            The page compares and estimates nothing. This command estimates the bit error ratio and the burst factor, with intervals:
          </p>
          <Copied label="Command for the histogram" text={commandOf(view, values)} />
          <button
            type="button"
            class="quiet"
            onClick={() => save(FILE, new Blob([histogram.histogramFile(shares.bins)], { type: "text/csv" }))}
          >
            Save {FILE}
          </button>
        </>
      )}
    </Figure>
  );
}

const TITLE = "Wrong symbols of codewords";

function Field({ text, problem, onText }: { text: string; problem: string | undefined; onText: (text: string) => void }) {
  return (
    <div>
      <label class="label" for="histogram">
        A histogram of FEC from a switch: paste what <code>ethtool -I --show-fec</code>, <code>mlxlink --show_histogram</code> or SONiC's{" "}
        <code>fec-histogram</code> printed, or lines with a bin and a count.
      </label>
      <textarea
        id="histogram"
        spellcheck={false}
        maxLength={MOST_LETTERS}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby="histogram-problem"
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <p id="histogram-problem" class="problem" role="status">
        {problem && `${problem}.`}
      </p>
      <p class="files">
        <button type="button" class="quiet" onClick={() => onText(histogram.EXAMPLE)}>
          Fill in an example
        </button>
        <button type="button" class="quiet" aria-disabled={text === ""} onClick={() => onText("")}>
          Empty the field
        </button>
      </p>
    </div>
  );
}

/** What is drawn: the model alone where nothing was pasted, or something wrong. */
function sharesOf(text: string, { shares }: Symbols, code: string): { shares: SymbolShares; problem: string | undefined } {
  const corrects = shares.length - 2;
  const bins = histogram.binsOf(shares);
  const alone: SymbolShares = { bins, counted: undefined, model: shares, codewords: 0, corrects };
  if (text.trim() === "") return { shares: alone, problem: undefined };
  const read = histogram.readHistogram(text);
  if ("problem" in read) return { shares: alone, problem: read.problem };
  const problem = histogram.otherCode(read.bins, corrects, code);
  if (problem) return { shares: alone, problem };
  const inside = histogram.withinCode(read.bins, corrects);
  const codewords = histogram.codewordsOf(inside);
  const counted = inside.map((bin) => bin.codewords / codewords);
  return { shares: { bins: inside, counted, model: histogram.sharesIn(inside, shares), codewords, corrects }, problem: undefined };
}

function summaryOf({ bins, counted, codewords }: SymbolShares, { shares }: Symbols): string {
  const model = histogram.binsOf(shares).map((bin, place) => ({ ...bin, codewords: shares[place] ?? 0 }));
  const line = `A codeword of the line of the knobs has ${histogram.meanText(histogram.meanOf(model))} wrong symbols on average`;
  const lost = `${digits(shares.at(-1) ?? 0, 2)} of its codewords have more than the code corrects`;
  if (!counted) return `${line}; ${lost}.`;
  return (
    `${line}, and one of the ${count(codewords)} codewords that the switch counted has ${histogram.meanText(histogram.meanOf(bins))}. ` +
    "Where the knobs are those of the line, the points lie on the bars."
  );
}

/** The command, with the code and the rate of the knobs. */
function commandOf(view: View, values: Values): string {
  const code = lineKnobs(view.knobs)?.code;
  const rate = values["link.rate"];
  return [
    `lossylink fit --fec-histogram ${FILE}`,
    ...(code ? [`--code ${values[code.id]}`] : []),
    ...(rate === undefined ? [] : [`--rate-of-link ${rate}`]),
  ].join(" ");
}
