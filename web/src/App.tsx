// The page: header, tabs, and the view that is shown; the address follows the state.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Catalogue } from "./catalogue/types.ts";
import { Tabs } from "./pieces/Tabs.tsx";
import { Address } from "./state/address.ts";
import { readFragment, writeFragment } from "./state/fragment.ts";
import { openingPage, type PageState, type ViewState } from "./state/state.ts";
import { leadOf, titleOf, viewNames, type ViewName } from "./state/views.ts";
import type { ViewProps } from "./views/props.ts";
import { VIEWS } from "./views/views.ts";

/** The whole page over a catalogue, with what is wrong with the one that was served. */
export function App({ catalogue, problem }: { catalogue: Catalogue; problem: string | undefined }) {
  const [{ page, problems }, setOpened] = useState(() => readFragment(catalogue, location.hash, openingPage(catalogue)));
  const newest = useRef(page);
  newest.current = page;
  const address = useMemo(
    () =>
      new Address((fragment) => {
        if (fragment !== writeFragment(catalogue, newest.current)) {
          setOpened(readFragment(catalogue, fragment, newest.current));
        }
      }),
    [],
  );
  const change = (next: PageState, isMoving: boolean) => {
    newest.current = next;
    setOpened({ page: next, problems: [] });
    address.write(writeFragment(catalogue, next), isMoving);
  };
  const changeView = (part: Partial<ViewState>, isMoving = false) => {
    const { view, states } = newest.current;
    change({ ...newest.current, states: { ...states, [view]: { ...states[view], ...part } } }, isMoving);
  };
  const names = viewNames(catalogue);
  useEffect(() => {
    document.title = `${titleOf(catalogue, page.view)} - lossylink`;
    document.documentElement.classList.toggle("embed", page.embed);
  }, [page.view, page.embed]);
  const props: ViewProps = { catalogue, state: page.states[page.view], onChange: changeView };
  const View = VIEWS[page.view];
  return (
    <>
      {!page.embed && (
        <header class="top">
          <p class="brand">
            lossylink <small>{catalogue.version}</small>
          </p>
          <Tabs
            names={names}
            titles={names.map((name) => titleOf(catalogue, name))}
            selected={page.view}
            onSelect={(name) => change({ ...newest.current, view: name as ViewName }, false)}
          />
        </header>
      )}
      <main>
        <div
          id="panel"
          class="panel"
          role={page.embed ? "group" : "tabpanel"}
          aria-label={page.embed ? titleOf(catalogue, page.view) : undefined}
          aria-labelledby={page.embed ? undefined : `tab-${page.view}`}
        >
          {problem && (
            <p class="problem" role="alert">
              {problem}.
            </p>
          )}
          {problems.length > 0 && (
            <p class="problem" role="alert">
              The address asks for what the page does not have: {problems.join("; ")}.
            </p>
          )}
          {!page.embed && (
            <div class="lead">
              <h1>{titleOf(catalogue, page.view)}</h1>
              <p>{leadOf(catalogue, page.view)}</p>
            </div>
          )}
          <View key={page.view} {...props} />
        </div>
      </main>
    </>
  );
}
