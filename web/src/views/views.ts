// The views by name.

import type { ComponentType } from "preact";
import type { ViewName } from "../state/views.ts";
import { DecideView } from "./DecideView.tsx";
import { FabricView } from "./FabricView.tsx";
import { LineView } from "./LineView.tsx";
import { LinkView } from "./LinkView.tsx";
import type { ViewProps } from "./props.ts";
import { WatchView } from "./WatchView.tsx";

export const VIEWS: Record<ViewName, ComponentType<ViewProps>> = {
  link: LinkView,
  watch: WatchView,
  decide: DecideView,
  line: LineView,
  fabric: FabricView,
};
