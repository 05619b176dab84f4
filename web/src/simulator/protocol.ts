// What the page asks the simulator, and what the simulator answers: JSON in, JSON out.

import type { JsonObject } from "../catalogue/json.ts";

export interface RunRequest {
  do: "run";
  configuration: JsonObject;
  /** Counts of flows after which an answer comes; the last is the final one. */
  looks?: number[];
}

export interface WatchRequest {
  do: "watch";
  configuration: JsonObject;
  /** The packet that the link loses, counted from one among the packets with data. */
  lost?: number;
}

export interface LineRequest {
  do: "line";
  configuration: JsonObject;
  /** Bit error ratios. */
  ber: number[];
}

export interface SymbolsRequest {
  do: "symbols";
  configuration: JsonObject;
}

export type Request = RunRequest | WatchRequest | LineRequest | SymbolsRequest;

/** What the simulator refuses, in one line. */
export interface Refusal {
  error: string;
}

export interface Outcome {
  final: boolean;
  /** As the simulator gives it, plus `effective_loss_ci95` where there is an effective loss. */
  row: Record<string, unknown>;
  flows?: Flows;
  tables: Record<string, Record<string, number[]>>;
}

/** Completion times of flows, in microseconds. */
export interface Flows {
  /** All flows, also those that never ended. */
  count: number;
  /** A value of null is never; an upper end of null has no bound. */
  percentiles: { percent: number; value: number | null; low: number; high: number | null; beyond: number }[];
  /** Share of flows that take longer, and microseconds: from 1 down to 1/count. */
  curve: [number, number | null][];
}

export interface Watched {
  /** In the order of the path. */
  hops: string[];
  /** The hop that loses frames and is protected. */
  link: string;
  /** By time. */
  frames: Seen[];
  /** The state of the link's two ends after each instant at which frames leave on the link, by time. */
  states: State[];
  row: Record<string, unknown>;
  /** The place of the lost packet among the frames of the link, where the request names a packet. */
  position?: number | null;
}

export type FrameKind =
  | "data"
  | "retransmission"
  | "dummy"
  | "ack"
  | "notification"
  | "pause"
  | "resume"
  | "parity"
  | "control"
  | "host";

export interface Seen {
  at_us: number;
  hop: string;
  direction: "forward" | "backward";
  lost: boolean;
  octets: number;
  kind: FrameKind;
  /** Such as "data 5, TCP 7301–8760". */
  words: string;
  /** TCP or RDMA place of the payload. */
  of?: { sequence?: number; bytes?: number };
}

/** The state of the link's two ends at an instant, as `--state-at` tells it. */
export interface State {
  at_us: number;
  /** The end that sends the data. */
  near: JsonObject;
  far: JsonObject;
}

export interface Ratios {
  /** Share of frames lost at each bit error ratio. */
  ratios: number[];
}

export interface Symbols {
  /** Shares of codewords with 0, 1, ... wrong symbols, up to as many as the code corrects, and last with more. */
  shares: number[];
}

/** To the worker: first the compiled module, then requests. */
export type ToWorker = { module: WebAssembly.Module } | { number: number; text: string };

/** From the worker: answers before the last, and the last. */
export interface FromWorker {
  number: number;
  text: string;
  last: boolean;
}

/** Whether an answer is a refusal. */
export function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === "object" && answer !== null && typeof (answer as Refusal).error === "string";
}
