// The address bar.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Address, type Place } from "../src/state/address.ts";

/** A window that remembers its places. */
class Remembering implements Place {
  places = [""];
  isFramed = false;
  hear: (() => void)[] = [];
  location = { hash: "" };
  history = {
    pushState: (_: unknown, __: string, address?: string | URL | null) => void this.places.push((this.location.hash = String(address))),
    replaceState: (_: unknown, __: string, address?: string | URL | null) =>
      void (this.places[this.places.length - 1] = this.location.hash = String(address)),
  };
  addEventListener(_: string, hear: () => void) {
    this.hear.push(hear);
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 300));

describe("the address", () => {
  it("has a place for each change", () => {
    const window_ = new Remembering();
    const address = new Address(() => {}, window_);
    for (const fragment of ["a", "b", "b"]) address.write(fragment, false);
    assert.deepEqual(window_.places, ["", "#a", "#b"]);
  });
  it("has one place for a movement", async () => {
    const window_ = new Remembering();
    const address = new Address(() => {}, window_);
    address.write("a", false);
    for (const fragment of ["b", "c"]) address.write(fragment, true);
    await pause();
    address.write("d", true);
    await pause();
    address.write("e", false);
    address.write("f", false);
    assert.deepEqual(window_.places, ["", "#a", "#e", "#f"]);
  });
  it("tells what a reader went to", () => {
    const window_ = new Remembering();
    const told: string[] = [];
    new Address((fragment) => told.push(fragment), window_);
    window_.location.hash = "#view=watch";
    window_.hear[0]?.();
    assert.deepEqual(told, ["view=watch"]);
  });
  it("has one place in a frame of another page", () => {
    const window_ = new Remembering();
    window_.isFramed = true;
    const address = new Address(() => {}, window_);
    for (const fragment of ["a", "b"]) address.write(fragment, false);
    assert.deepEqual(window_.places, ["#b"]);
  });
  it("bears a frame that may not write", () => {
    const window_ = new Remembering();
    window_.history.pushState = () => {
      throw new Error("SecurityError");
    };
    assert.doesNotThrow(() => new Address(() => {}, window_).write("a", false));
  });
});
