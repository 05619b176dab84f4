// The address bar: written when a view changes, read when a reader goes back, forward, or follows a link.

/** Milliseconds between two writings while a slider moves: browsers refuse too many. */
const PAUSE_MS = 250;

/** Keeps the fragment of an address in step with the page. */
export class Address {
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #place: Location;
  #past: History;

  constructor(onChange: (fragment: string) => void, window_: Window = window) {
    this.#place = window_.location;
    this.#past = window_.history;
    const told = () => onChange(this.fragment);
    window_.addEventListener("popstate", told);
    window_.addEventListener("hashchange", told);
  }

  /** The fragment, without the sign `#`. */
  get fragment(): string {
    return this.#place.hash.replace(/^#/, "");
  }

  /** Writes a fragment: as a new place to come back to, or, while something moves, in place of the last. */
  write(fragment: string, isNewPlace: boolean): void {
    clearTimeout(this.#waiting);
    if (isNewPlace) this.#put(fragment, "pushState");
    else this.#waiting = setTimeout(() => this.#put(fragment, "replaceState"), PAUSE_MS);
  }

  #put(fragment: string, how: "pushState" | "replaceState"): void {
    if (fragment === this.fragment) return;
    try {
      this.#past[how](null, "", `#${fragment}`);
    } catch {
      // A frame without an origin may not write its address; its page works without.
    }
  }
}
