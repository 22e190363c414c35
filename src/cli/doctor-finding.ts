import type { ClockFacts } from "../index.ts";
import type { Framework } from "../kernel/env-names.ts";

/** What a check found: all is well, something to know, something to mend. */
export type Level = "ok" | "warning" | "problem";

export interface Finding {
  readonly level: Level;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** A variable and where it was set: `environment`, or a file's name such as `.env.local`. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** A library of PostHog's that the app depends on. */
export interface Library {
  readonly name: string;
  /** As installed, or the range that package.json asks for. */
  readonly version: string;
}

/** What became of traffic so far. */
export interface Traffic {
  readonly requests: number;
  readonly kept: number;
  /** Why events were dropped and requests rejected, newest first, each reason once. */
  readonly dropped: readonly Trouble[];
  readonly rejected: readonly Trouble[];
  /** `POST /x` of paths that do not exist, newest first, and what to do about each. */
  readonly unmatched: readonly { readonly what: string; readonly fix: string }[];
  /** Has a browser asked for flags or settings? Its name for itself where it is an automated one. */
  readonly browser: { readonly automated: string | null } | null;
}

interface Trouble {
  readonly reason: string;
  readonly count: number;
  readonly fix: string;
}

/** A sim that runs. */
export interface SimFacts {
  readonly url: string;
  readonly foundBy: string;
  readonly version: string;
  readonly projects: readonly { readonly id: number; readonly api_key: string }[];
  readonly personalKey: string | null;
  readonly adoptsTokens: boolean;
  readonly clock: Pick<ClockFacts, "now" | "frozen" | "real"> | null;
  readonly faults: readonly string[];
  readonly traffic: Traffic;
}

/** What a preflight of the app's pages was answered. */
export interface Preflight {
  readonly origin: string;
  readonly status: number;
  readonly allowed: string | null;
}

/** All that the checks look at. */
export interface Facts {
  /** The sim, or why there is none. */
  readonly sim: SimFacts | { readonly missing: string };
  /** Of each name the one that counts. */
  readonly variables: readonly Variable[];
  /** The framework that package.json names. */
  readonly framework: Framework | null;
  readonly libraries: readonly Library[];
  readonly preflight: Preflight | null;
}
