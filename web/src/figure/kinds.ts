// How frames of each kind look, and what they are called.

import type { FrameKind } from "../simulator/protocol.ts";

export interface KindLook {
  name: string;
  /** A letter beside the arrow; data has none. */
  glyph: string;
  light: string;
  dark: string;
  dash: string;
}

const LOOKS: Record<FrameKind, KindLook> = {
  data: { name: "data", glyph: "", light: "#5d6064", dark: "#b9bbbd", dash: "" },
  retransmission: { name: "sent again", glyph: "R", light: "#009e73", dark: "#2bbd92", dash: "" },
  notification: { name: "loss notification", glyph: "N", light: "#a8467f", dark: "#de9bc0", dash: "" },
  ack: { name: "acknowledgement", glyph: "A", light: "#8a8c8f", dark: "#8a8d91", dash: "3 2" },
  dummy: { name: "dummy", glyph: "D", light: "#2c8fc9", dark: "#9ad4f5", dash: "2 2" },
  pause: { name: "pause", glyph: "P", light: "#b87800", dark: "#e69f00", dash: "" },
  resume: { name: "resume", glyph: "S", light: "#b87800", dark: "#e69f00", dash: "5 2" },
  parity: { name: "parity", glyph: "F", light: "#b87800", dark: "#e69f00", dash: "6 2 2 2" },
  control: { name: "control", glyph: "C", light: "#0072b2", dark: "#4ba3e3", dash: "4 2" },
  host: { name: "of the hosts", glyph: "H", light: "#0072b2", dark: "#4ba3e3", dash: "" },
};

/** All kinds, in the order of the legend. */
export const KINDS = Object.keys(LOOKS) as FrameKind[];

/** Kinds of frames that tell of a loss. */
export const TELLING: FrameKind[] = ["retransmission", "notification", "pause", "resume"];

/** The look of a kind; what a newer simulator tells besides is control. */
export function kindLook(kind: FrameKind): KindLook {
  return LOOKS[kind] ?? LOOKS.control;
}

/** The colour of what is lost. */
export const LOST = { light: "#c04a00", dark: "#f0803c" };
