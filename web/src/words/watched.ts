// What the frames of one flow tell, in words.

import { kindLook } from "../figure/kinds.ts";
import type { Seen, Watched } from "../simulator/protocol.ts";
import { digits, duration } from "./numbers.ts";

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

/** A silence that is told: a shorter one is no riddle. */
const SILENCE_US = 100;

/** The story of the lost frame: where it is lost, who makes up for it and when, and how long the flow takes. */
export function storyOf({ hops, frames, row }: Watched): string {
  const place = frames.findIndex((seen) => seen.lost);
  const lost = frames[place];
  if (!lost) return "No frame is lost: the flow has fewer packets with data.";
  const later = frames.slice(place + 1);
  const again = later.find((seen) => seen.kind === "retransmission" && isSamePayload(seen, lost));
  const told = later.find((seen) => seen.kind === "notification" && seen.at_us <= (again?.at_us ?? Infinity));
  const next = hops[hops.indexOf(lost.hop) + 1];
  const restored = again ? undefined : later.find((seen) => seen.hop === next && seen.direction === lost.direction && isSamePayload(seen, lost));
  const after = (seen: Seen) => duration(seen.at_us - lost.at_us);
  const silence = again ? longestSilence(frames.slice(place, frames.indexOf(again) + 1)) : 0;
  const sentences = [`The link loses a frame at ${digits(lost.at_us)} us (${lost.words}).`];
  if (told) sentences.push(`${nodeOf(told)} asks for the frame ${after(told)} after the loss.`);
  if (silence > SILENCE_US) sentences.push(`Then no frame passes for ${duration(silence)}.`);
  if (again) sentences.push(`${nodeOf(again)} sends the frame again ${after(again)} after the loss.`);
  else if (restored) sentences.push(`${nodeOf(restored)} has the frame ${after(restored)} after the loss, from the parity frames.`);
  else sentences.push("No frame is sent again.");
  const whole = row["fct_us_max"];
  if (typeof whole === "number") sentences.push(`The flow takes ${duration(whole)}.`);
  return sentences.join(" ");
}

/** Whether a frame carries what the lost one carried; what has no place in its flow is taken for it. */
function isSamePayload(seen: Seen, lost: Seen): boolean {
  const [one, other] = [seen.of?.sequence ?? null, lost.of?.sequence ?? null];
  return one === null || other === null ? seen.kind === "retransmission" : one === other;
}

/** The node that sends a frame over its hop. */
function nodeOf(seen: Seen): string {
  return wayWords(seen).split(" ")[0] ?? "";
}

/** The longest time between two frames, in microseconds. */
function longestSilence(frames: Seen[]): number {
  return Math.max(0, ...frames.map((seen, place) => seen.at_us - (frames[place - 1]?.at_us ?? seen.at_us)));
}

/** The name of a frame's kind. */
export function kindName(seen: Seen): string {
  return kindLook(seen.kind).name;
}
