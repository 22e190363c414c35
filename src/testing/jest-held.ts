/** What the setup of a run leaves to its teardown; jest loads the two as modules that know nothing of each other. */
export interface Held {
  close(): Promise<void>;
}

const place = Symbol.for("phx-sim.jest");
const shelf: { [place]?: Held | undefined } = globalThis as { [place]?: Held | undefined };

/** In this process there is one run at a time. */
export const held = {
  get current(): Held | undefined {
    return shelf[place];
  },
  set current(it: Held | undefined) {
    shelf[place] = it;
  },
};
