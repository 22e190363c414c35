import type { z } from "zod";
import type * as authored from "./schemas/fault.ts";

type AuthoredEffect = z.infer<typeof authored.FaultEffect>;

/** What happens to a request, with times in ms. */
export type FaultEffect = Omit<AuthoredEffect, "latency" | "jitter"> & { latency?: number; jitter?: number };
export type FaultMatch = z.infer<typeof authored.FaultMatch>;

/** What is to go wrong: an effect, or a preset whose parts it replaces; where, how often and for how long. */
export type FaultOrder = z.infer<typeof authored.FaultOrder>;

/** What a scenario's list holds: a preset by its name, or all that can be said of a rule. */
export type FaultUse = PresetName | FaultOrder;

/** States of the service that have a name; faults/presets.ts says what they are. */
export const presetNames = [
  "flags-partial",
  "flags-down",
  "flags-slow",
  "capture-503",
  "rate-limited",
  "quota-exhausted",
  "connection-reset",
  "garbage-json",
] as const;
export type PresetName = (typeof presetNames)[number];

/** What a project can have used up. */
export const quotas = ["events", "recordings", "feature_flags"] as const;
export type Quota = (typeof quotas)[number];

/** A rule as it is shown, and how it fared. */
export interface ShownFault {
  readonly id: string;
  /** Its own name, or the preset's, or the id. */
  readonly name: string;
  readonly preset: PresetName | null;
  readonly match: FaultMatch;
  readonly effect: FaultEffect;
  readonly rate: number;
  readonly seed: number;
  readonly times: number | null;
  /** ms of the sim's clock, from `since` on. */
  readonly duration: number | null;
  readonly state: "active" | "used_up" | "expired";
  /** Requests that it touched. */
  readonly used: number;
  readonly since: string;
  /** The rule as a sentence. */
  readonly text: string;
}

/** A preset as it is shown. */
export interface ShownPreset {
  readonly name: PresetName;
  readonly describe: string;
  readonly match: FaultMatch;
  readonly effect: FaultEffect;
}
