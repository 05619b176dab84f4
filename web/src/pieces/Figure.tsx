// A figure: its picture, what it says in words, its table, and its files.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { csvText, pngOf, save, svgText } from "../figure/export.ts";
import type { Canvas } from "../figure/plot.ts";
import { LIGHT } from "../figure/theme.ts";
import { useTheme } from "./use-theme.ts";
import { useWidth } from "./use-width.ts";

const FILE_WIDTH_PX = 760;

interface Props {
  /** The name of files. */
  name: string;
  title: string;
  /** What the figure says, in words. */
  summary: string;
  draw: (canvas: Canvas) => SVGElement;
  /** What the picture depends on. */
  of: unknown[];
  rows: () => (string | number | null)[][];
  isBusy?: boolean;
  /** The picture is higher than its place, and scrolls there. */
  scrolls?: boolean;
  /** What stands between the title and the picture. */
  above?: ComponentChildren;
  /** Called with each picture that is shown. */
  onDrawn?: (svg: SVGElement) => void;
  /** The table beside the figure. */
  children?: ComponentChildren;
}

/** Draws again when what it depends on, the width or the theme changes. */
export function Figure({ name, title, summary, draw, of, rows, isBusy = false, scrolls = false, above, onDrawn, children }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const theme = useTheme();
  const [problem, setProblem] = useState("");
  useLayoutEffect(() => {
    if (!place.current || width === 0) return;
    const svg = draw({ width, theme });
    for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // the picture is one image
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${title}. ${summary}`);
    place.current.replaceChildren(svg);
    onDrawn?.(svg);
  }, [...of, width, theme, summary]);
  const onPaper = () => draw({ width: FILE_WIDTH_PX, theme: LIGHT });
  const savePng = () =>
    pngOf(onPaper(), LIGHT.paper).then(
      (blob) => save(`${name}.png`, blob),
      (refused: unknown) => setProblem(String(refused)),
    );
  return (
    <figure class="figure" aria-busy={isBusy}>
      <h2>{title}</h2>
      {above}
      <div
        class="picture"
        ref={place}
        {...(scrolls ? { role: "region" as const, "aria-label": `Picture of ${title.toLowerCase()}`, tabIndex: 0 } : {})}
      />
      <figcaption>{summary}</figcaption>
      <p class="unseen" role="status">
        {isBusy ? "" : summary}
      </p>
      <div class="files" role="group" aria-label={`Files of the figure ${title}`}>
        <button type="button" class="quiet" onClick={() => void savePng()}>
          PNG
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => save(`${name}.svg`, new Blob([svgText(onPaper(), LIGHT.paper)], { type: "image/svg+xml" }))}
        >
          SVG
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => save(`${name}.csv`, new Blob([csvText(rows())], { type: "text/csv" }))}
        >
          CSV
        </button>
        {problem && <span class="problem">{problem}</span>}
      </div>
      {children}
    </figure>
  );
}
