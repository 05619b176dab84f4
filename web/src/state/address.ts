// The address bar: written when a view changes, read when a reader goes back, forward, or follows a link.

/** Milliseconds between two writings while a slider moves: browsers refuse too many. */
const PAUSE_MS = 250;

/** What an address needs of a window. */
export interface Place {
  location: Pick<Location, "hash">;
  history: Pick<History, "pushState" | "replaceState">;
  addEventListener(name: string, hear: () => void): void;
  /** Whether the page stands in a frame of another page. */
  isFramed: boolean;
}

/** Keeps the fragment of an address in step with the page. */
export class Address {
  #window: Place;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** Whether the newest place to come back to is that of a movement that goes on. */
  #isMoving = false;

  constructor(onChange: (fragment: string) => void, window_: Place = thisWindow()) {
    this.#window = window_;
    const told = () => {
      this.#isMoving = false;
      onChange(this.fragment);
    };
    window_.addEventListener("popstate", told);
    window_.addEventListener("hashchange", told);
  }

  /** The fragment, without the sign `#`. */
  get fragment(): string {
    return this.#window.location.hash.replace(/^#/, "");
  }

  /** Writes a fragment as a new place to come back to; a whole movement, until its last writing, is one place. */
  write(fragment: string, isMoving: boolean): void {
    clearTimeout(this.#waiting);
    if (isMoving) this.#waiting = setTimeout(() => this.#put(fragment, true), PAUSE_MS);
    else this.#put(fragment, false);
  }

  #put(fragment: string, isMoving: boolean): void {
    // The places of a frame would be places of the page around it.
    const how = this.#isMoving || this.#window.isFramed ? "replaceState" : "pushState";
    this.#isMoving = isMoving;
    if (fragment === this.fragment) return;
    try {
      this.#window.history[how](null, "", `#${fragment}`);
    } catch {
      // A frame without an origin may not write its address; its page works without.
    }
  }
}

function thisWindow(): Place {
  return {
    location: window.location,
    history: window.history,
    addEventListener: (name, hear) => window.addEventListener(name, hear),
    isFramed: window.parent !== window,
  };
}
