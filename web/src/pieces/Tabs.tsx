// Tabs: arrow keys go from one to the next, as the ARIA practices say.

import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  names: string[];
  titles: string[];
  selected: string;
  onSelect: (name: string) => void;
}

/** The tabs of the page; all share one panel. */
export function Tabs({ names, titles, selected, onSelect }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [box, tab] = [list.current, document.getElementById(`tab-${selected}`)];
    if (!box || !tab) return;
    // A phone has no room for all tabs: the selected one and a part of its neighbours are in sight.
    const left = tab.offsetLeft - box.offsetLeft;
    box.scrollLeft = left - (box.clientWidth - tab.offsetWidth) / 2;
  }, [selected]);
  const press = (event: KeyboardEvent) => {
    const place = names.indexOf(selected);
    const last = names.length - 1;
    const next = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place === 0 ? last : place - 1, Home: 0, End: last }[
      event.key
    ];
    const name = next === undefined ? undefined : names[next];
    if (name === undefined) return;
    event.preventDefault();
    onSelect(name);
    document.getElementById(`tab-${name}`)?.focus();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label="Views" onKeyDown={press}>
      {names.map((name, place) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === selected}
          aria-controls="panel"
          tabIndex={name === selected ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {titles[place]}
        </button>
      ))}
    </div>
  );
}
