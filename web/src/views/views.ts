// The views by name.

import type { ComponentType } from "preact";
import type { ViewName } from "../state/views.ts";
import { LinkView } from "./LinkView.tsx";
import type { ViewProps } from "./props.ts";
import { WatchView } from "./WatchView.tsx";

export const VIEWS: Partial<Record<ViewName, ComponentType<ViewProps>>> = { link: LinkView, watch: WatchView };
