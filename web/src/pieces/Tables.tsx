// The tables beside the figures: percentiles, and figures of rows.

import type { Catalogue, Column, Experiment } from "../catalogue/types.ts";
import { shade, type Look } from "../figure/theme.ts";
import type { Flows, Outcome } from "../simulator/protocol.ts";
import { count } from "../words/numbers.ts";
import { FEW, percentileCell } from "../words/percentiles.ts";
import { cellOf, type Cell } from "../words/rows.ts";
import { useTheme } from "./use-theme.ts";

/** A protection and what was found under it. */
export interface Line {
  text: string;
  label: string;
  look: Look;
  outcome: Outcome | undefined;
}

/** Keys of percentiles, which have a table of their own. */
const PERCENTILE = /_p\d+(_\d+)?$/;
/** The text of the protection that is no protection: all others are compared with it. */
const BASE = "none";

/** Percentiles of completion times, with intervals, and how many times those without protection. */
export function PercentileTable({ catalogue, lines }: { catalogue: Catalogue; lines: Line[] }) {
  const found = lines.filter((line) => line.outcome?.flows);
  const base = found.find((line) => line.text === BASE)?.outcome?.flows;
  const isKnown = (percent: number) =>
    found.some(({ outcome }) => outcome?.flows?.percentiles.some((one) => one.percent === percent));
  const percentiles = catalogue.percentiles.filter(({ percent }) => isKnown(percent));
  const caption = `Completion times in us, with 95 % intervals${base && found.length > 1 ? ", and how many times those without protection" : ""}`;
  const hasFew = found.some(({ outcome }) => outcome?.flows && percentiles.some(({ percent }) => percentileCell(outcome.flows as Flows, percent).text === FEW));
  return (
    <Scrolled label="Percentiles of completion times" caption={caption}>
      <table>
        <thead>
          <tr>
            <th scope="col">protection</th>
            {percentiles.map(({ key, label }) => (
              <th key={key} scope="col" class="number">
                {label}
              </th>
            ))}
            <th scope="col" class="number">
              flows
            </th>
          </tr>
        </thead>
        <tbody>
          {found.map((line) => {
            const flows = line.outcome?.flows as Flows;
            return (
              <tr key={line.text}>
                <Head line={line} />
                {percentiles.map(({ key, percent }) => {
                  const { ratio, ...cell } = percentileCell(flows, percent, base);
                  return <Shown key={key} cell={cell} more={ratio} />;
                })}
                <td class="number">{count(flows.count)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {hasFew && <p class="small">{FEW}: fewer than three flows were slower.</p>}
    </Scrolled>
  );
}

/** The figures of an experiment's row that its catalogue names, a line a protection. */
export function HeadlineTable({ catalogue, experiment, lines }: { catalogue: Catalogue; experiment: Experiment; lines: Line[] }) {
  const found = lines.filter((line) => line.outcome);
  const hasPercentiles = found.some(({ outcome }) => outcome?.flows);
  const keys = experiment.headline.filter(
    (key) => found.some(({ outcome }) => outcome && key in outcome.row) && !(hasPercentiles && PERCENTILE.test(key)),
  );
  if (found.length === 0 || keys.length === 0) return null;
  const words = headsOf(catalogue, keys);
  const hasIntervals = found.some(({ outcome }) => keys.some((key) => outcome && cellOf(outcome.row, key).interval));
  return (
    <Scrolled label={`Figures of ${experiment.command}`} caption={`Figures of ${experiment.command}${hasIntervals ? ", with 95 % intervals" : ""}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">protection</th>
            {words.map(({ label, unit, meaning }, place) => (
              <th key={keys[place]} scope="col" class="number" title={meaning}>
                {label}
                {unit && <small>{unit}</small>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.map((line) => (
            <tr key={line.text}>
              <Head line={line} />
              {keys.map((key) => (
                <Shown key={key} cell={cellOf(line.outcome?.row ?? {}, key)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>Meaning of the columns</summary>
        <dl>
          {words.map(({ label, meaning }, place) => (
            <div key={keys[place]}>
              <dt>{label}</dt>
              <dd>{coded(meaning)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Scrolled>
  );
}

/** The heads of columns; where two have one label, the end of the key tells them apart: mean, min. */
export function headsOf(catalogue: Catalogue, keys: string[]): Column[] {
  const words = keys.map((key) => catalogue.columns[key] ?? { label: key, unit: "", meaning: "" });
  const isTwice = (label: string) => words.filter((word) => word.label === label).length > 1;
  return words.map((word, place) => (isTwice(word.label) ? { ...word, label: `${word.label}, ${keys[place]?.split("_").at(-1)}` } : word));
}

/** Words between backquotes are keys. */
function coded(text: string) {
  return text.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}

/** A name that is short stays on one line. */
const SHORT_LETTERS = 16;

/** The class of a row's head. */
export function rowHead(name: string): string | undefined {
  return name.length <= SHORT_LETTERS ? "whole" : undefined;
}

function Head({ line }: { line: Line }) {
  return (
    <th scope="row" class={rowHead(line.label)}>
      <span class="dot" style={{ background: shade(line.look, useTheme()) }} aria-hidden="true" />
      {line.label}
    </th>
  );
}

function Shown({ cell, more }: { cell: Cell; more?: string | undefined }) {
  return (
    <td class="number">
      {cell.text}
      {cell.interval && <small>{cell.interval}</small>}
      {more && <b class="times">{more}</b>}
    </td>
  );
}

/** A table that scrolls by itself where a phone has no room; the keyboard reaches it, and its caption stays. */
export function Scrolled({ label, caption, children }: { label: string; caption?: string; children: preact.ComponentChildren }) {
  return (
    <div class="tabled">
      {caption && <p class="caption">{caption}</p>}
      <div class="scrolled" role="region" aria-label={label} tabIndex={0}>
        {children}
      </div>
    </div>
  );
}
