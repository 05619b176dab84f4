// Where the frames of one flow stand in a picture of its path: lanes across, time downwards.
// Time is stretched where much happens and cut short where nothing does.

import type { FrameKind, Seen, Watched } from "../simulator/protocol.ts";

/** A frame on its way from one lane to the next. */
export interface Arrow {
  /** Place in the list of all frames. */
  index: number;
  seen: Seen;
  /** Lanes, from 0. */
  from: number;
  to: number;
  y1: number;
  y2: number;
  /** The time at which it is at the next lane, as the fastest of its kind was. */
  arrives_us: number;
}

/** A time in which nothing happens. */
export interface Gap {
  y: number;
  us: number;
}

export interface Layout {
  lanes: string[];
  /** The lanes on both sides of the link that loses frames. */
  link: [number, number];
  arrows: Arrow[];
  gaps: Gap[];
  height: number;
}

const TOP_PX = 12;
/** Pixels of a doubling of the time between two moments, and the shortest time that counts, in microseconds. */
const DOUBLING_PX = 6;
const SHORTEST_US = 0.06;
const MOST_PX = 46;
/** From here on a time without an event is cut short, and its length is written. */
const LONG_GAP_US = 25;
/** Frames of fewer octets travel as control frames do. */
const SMALL_OCTETS = 512;

/** Lays the frames of some kinds out; a lost frame is always there. */
export function layoutOf({ hops, link, frames }: Watched, hidden: FrameKind[] = []): Layout {
  const isShown = (seen: Seen) => seen.lost || !hidden.includes(seen.kind);
  const flights = flightsOf(hops, frames);
  const ways = frames.map((seen) => wayOf(hops, seen));
  const arrivals = frames.map((seen) => seen.at_us + (flights.get(classOf(hops, seen)) ?? flights.get("any") ?? 0.5));
  const moments = frames.flatMap((seen, index) => (isShown(seen) ? [seen.at_us, arrivals[index] ?? seen.at_us] : []));
  const { yOf, gaps, height } = scaleOf(moments);
  const arrows = frames.flatMap((seen, index): Arrow[] => {
    const [from, to] = isShown(seen) ? (ways[index] ?? [-1, -1]) : [-1, -1];
    const arrives_us = arrivals[index] ?? seen.at_us;
    return from < 0 ? [] : [{ index, seen, from, to, y1: yOf(seen.at_us), y2: yOf(arrives_us), arrives_us }];
  });
  const place = hops.indexOf(link);
  return { lanes: lanesOf(hops), link: [place, place + 1], arrows, gaps, height };
}

/** The nodes of a path, from the names of its hops: "h4-sw8", "sw8-sw4" are h4, sw8, sw4. */
export function lanesOf(hops: string[]): string[] {
  const ends = hops.map((hop) => hop.split("-"));
  return [ends[0]?.[0] ?? "", ...ends.map((end) => end.slice(1).join("-"))];
}

function wayOf(hops: string[], seen: Seen): [number, number] {
  const place = hops.indexOf(seen.hop);
  if (place < 0) return [-1, -1];
  return seen.direction === "forward" ? [place, place + 1] : [place + 1, place];
}

function classOf(hops: string[], seen: Seen): string {
  return `${hops.indexOf(seen.hop)} ${seen.direction} ${seen.octets < SMALL_OCTETS ? "small" : "large"}`;
}

/** The shortest time from a hop to the next, for each hop, direction and size; of the last hop, that of any. */
function flightsOf(hops: string[], frames: Seen[]): Map<string, number> {
  const flights = new Map<string, number>();
  const least = (key: string, us: number) => flights.set(key, Math.min(flights.get(key) ?? Infinity, us));
  const newest = new Map<string, Seen>();
  for (const seen of frames) {
    const place = hops.indexOf(seen.hop);
    const before = hops[seen.direction === "forward" ? place - 1 : place + 1];
    const was = before === undefined ? undefined : newest.get(payloadOf(seen, before));
    if (was && seen.at_us > was.at_us) {
      least(classOf(hops, was), seen.at_us - was.at_us);
      least("any", seen.at_us - was.at_us);
    }
    if (!seen.lost) newest.set(payloadOf(seen, seen.hop), seen);
  }
  return flights;
}

/** What is the same of a frame on all hops. */
function payloadOf(seen: Seen, hop: string): string {
  const what = seen.of?.sequence === undefined ? seen.words : `${seen.of.sequence} ${seen.of.bytes ?? 0}`;
  return `${hop} ${seen.direction} ${what}`;
}

/** From times to pixels. */
function scaleOf(times: number[]): { yOf: (us: number) => number; gaps: Gap[]; height: number } {
  const moments = [...new Set(times)].sort((one, other) => one - other);
  const places = new Map<number, number>();
  const gaps: Gap[] = [];
  let y = TOP_PX;
  let last = moments[0] ?? 0;
  for (const moment of moments) {
    const passed = moment - last;
    const step = Math.min(MOST_PX, DOUBLING_PX * Math.log2(1 + passed / SHORTEST_US));
    if (passed > LONG_GAP_US) gaps.push({ y: y + step / 2, us: passed });
    y += step;
    places.set(moment, y);
    last = moment;
  }
  return { yOf: (us) => places.get(us) ?? TOP_PX, gaps, height: y + TOP_PX };
}
