// What the frames of one flow tell, in words.

import { kindLook } from "../figure/kinds.ts";
import type { Seen, Watched } from "../simulator/protocol.ts";
import { digits } from "./numbers.ts";

/** One frame, as it is read out. */
export function frameWords(seen: Seen): string {
  const lost = seen.lost ? " This frame is lost." : "";
  return `${digits(seen.at_us, 5)} us, ${wayWords(seen)}: ${seen.words}.${lost}`;
}

/** From where to where a frame goes. */
export function wayWords({ hop, direction }: Seen): string {
  const [near = hop, far = ""] = hop.split("-");
  return direction === "forward" ? `${near} to ${far}` : `${far} to ${near}`;
}

/** The story of the lost frame: where it is lost, and when it is sent again. */
export function storyOf({ frames }: Watched): string {
  const place = frames.findIndex((seen) => seen.lost);
  const lost = frames[place];
  if (!lost) return "No frame is lost: the flow is over before the frame of this number.";
  const again = frames.slice(place + 1).find((seen) => seen.kind === "retransmission");
  const told = frames.slice(place + 1).find((seen) => seen.kind === "notification");
  const after = (seen: Seen) => `${duration(seen.at_us - lost.at_us)} later`;
  const begin = `The link loses a frame at ${digits(lost.at_us)} us (${lost.words}).`;
  const middle = told ? ` The far switch asks for the frame ${after(told)}.` : "";
  const end = again ? ` The frame is sent again ${after(again)}, from ${wayWords(again).split(" ")[0]}.` : " No frame is sent again.";
  return begin + middle + end;
}

/** A time in us or ms. */
export function duration(us: number): string {
  return us >= 1000 ? `${digits(us / 1000, 3)} ms` : `${digits(us, 3)} us`;
}

/** The name of a frame's kind. */
export function kindName(seen: Seen): string {
  return kindLook(seen.kind).name;
}
