// The views of the page, in the order of the tabs.

import type { Catalogue } from "../catalogue/types.ts";

export type ViewName = "link" | "watch" | "decide" | "line" | "fabric";

/** Titles of views for which the catalogue has none. */
const TITLES: Record<ViewName, string> = {
  link: "One link",
  watch: "Watch a packet",
  decide: "Decide",
  line: "Behind the frame",
  fabric: "Fabric",
};

/** The views for which the catalogue has what they need. */
export function viewNames(catalogue: Catalogue): ViewName[] {
  return (Object.keys(TITLES) as ViewName[]).filter((name) =>
    name === "decide" ? Object.keys(catalogue.plan?.entries ?? {}).length > 0 : name in catalogue.views,
  );
}

/** The sentence below the title; the catalogue has none for `decide`. */
export function leadOf(catalogue: Catalogue, name: ViewName): string {
  return catalogue.views[name]?.lead ?? "Which protection a link should have, as lossylink plan decides.";
}

/** The title of a view on its tab. */
export function titleOf(catalogue: Catalogue, name: ViewName): string {
  return catalogue.views[name]?.title ?? TITLES[name];
}
