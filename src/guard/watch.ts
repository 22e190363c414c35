import type { Place } from "../kernel/host-rules.ts";
import type { Attempt } from "./attempt.ts";
import type { EgressError } from "./errors.ts";
import type { Exit, Gate } from "./exits.ts";
import { fetchExits } from "./fetch-exit.ts";
import { httpExits } from "./http-exit.ts";
import { socketExit } from "./socket-exit.ts";
import { createTrail } from "./trail.ts";

/** One guard, as the process sees it. */
export interface Watcher {
  refuses(place: Place): boolean;
  /** Records the call; answers with what it must fail with. */
  record(attempt: Attempt): EgressError;
}

/**
 * The ways out belong to the process, and so does the list of who watches them: guards that overlap must each
 * learn of a call, whichever of them was first and whichever ends first.
 */
const watchers = new Set<Watcher>();
let uninstall: (() => void) | undefined;

const gate: Gate = {
  concerns: (place) => [...watchers].some((it) => it.refuses(place)),
  refuse: (attempt) =>
    [...watchers].filter((it) => it.refuses(attempt.place)).map((it) => it.record(attempt))[0],
};

function install(): () => void {
  const trail = createTrail();
  const exits: readonly Exit[] = [socketExit(trail), ...httpExits(trail), ...fetchExits(trail)];
  const ends = exits.map((exit) => exit(gate));
  return () => {
    for (const end of ends) end();
  };
}

/** Watches every way out of the process until the function that it returns is called. */
export function watch(watcher: Watcher): () => void {
  watchers.add(watcher);
  uninstall ??= install();
  return () => {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}
