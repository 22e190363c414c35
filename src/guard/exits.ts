import type { Place } from "../kernel/host-rules.ts";
import { type Attempt, callerFrames } from "./attempt.ts";
import type { EgressError } from "./errors.ts";

/** Whom the ways out of the process ask. */
export interface Gate {
  /** Is the place guarded? Nothing is recorded. */
  concerns(place: Place): boolean;
  /** Records the call with every guard that refuses it. Answers with what the call must fail with. */
  refuse(attempt: Attempt): EgressError | undefined;
}

/** A way out of the process: `install` watches it, and returns what ends that. */
export type Exit = (gate: Gate) => () => void;

/**
 * Replaces a method. What ends it puts the first one back, unless somebody else has replaced it since; then ours
 * stays below theirs and passes everything on.
 */
export function replaceMethod<Host extends object, Name extends keyof Host>(
  host: Host,
  name: Name,
  wrap: (original: Host[Name], isOn: () => boolean) => Host[Name],
): () => void {
  const original = host[name];
  let on = true;
  const ours = wrap(original, () => on);
  host[name] = ours;
  return () => {
    on = false;
    if (host[name] === ours) host[name] = original;
  };
}

/** The first of them that is guarded, with the frames of whoever called `entry`; frames are costly, so only then. */
export function guardedOf(
  gate: Gate,
  aims: readonly (Omit<Attempt, "stack"> | undefined)[],
  entry: (...args: never[]) => unknown,
): Attempt | undefined {
  const aim = aims.find((it) => it !== undefined && gate.concerns(it.place));
  return aim && { ...aim, stack: callerFrames(entry) };
}
