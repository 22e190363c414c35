import { didYouMean } from "../kernel/nearest.ts";
import type { MissPolicy } from "../tape/types.ts";
import { readTiming, type Timing, timingExpected } from "./timing.ts";

/** Modes in which a tape answers. `replay` is strict: what is not on the tape is an error; `hybrid`: the emulator's. */
const replayModes = ["replay", "hybrid"] as const;
type ReplayMode = (typeof replayModes)[number];

/** What a user says of a replay; what is left out goes by the mode, which is `replay` unless told. */
export interface ReplayWish {
  readonly mode?: string | undefined;
  readonly onMiss?: string | undefined;
  readonly timing?: string | undefined;
  readonly skipStatus?: readonly number[] | undefined;
}

/** How a tape answers. */
export interface ReplayRules {
  readonly mode: ReplayMode;
  readonly onMiss: MissPolicy;
  readonly timing: Timing;
  /** As the user wrote it. */
  readonly timingText: string;
  /** Recorded answers with these statuses are not given. */
  readonly skipStatus: readonly number[];
}

/** What is wrong with a wish: its key, and a sentence. */
export interface WrongWish {
  readonly key: keyof ReplayWish;
  readonly detail: string;
}

const policies: Readonly<Record<ReplayMode, MissPolicy>> = { replay: "fail", hybrid: "emulate" };

const oneOf = <T extends string>(value: string, choices: readonly T[]): T | undefined =>
  choices.find((it) => it === value);

const wrong = (key: keyof ReplayWish, value: string, expected: string, hint = ""): WrongWish => ({
  key,
  detail: `must be ${expected}, not ${JSON.stringify(value)}${hint}`,
});

const wrongChoice = (key: keyof ReplayWish, value: string, choices: readonly string[]): WrongWish =>
  wrong(key, value, choices.join(" or "), didYouMean(value, choices));

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 200 && value <= 599;

/** The rules that a wish stands for. @param canForward Is there an upstream to ask? */
export function rulesOf(
  { mode: modeText = "replay", onMiss, timing: timingText = "none", skipStatus = [] }: ReplayWish,
  canForward: boolean,
): ReplayRules | WrongWish {
  const known: readonly MissPolicy[] = canForward ? ["fail", "emulate", "upstream"] : ["fail", "emulate"];
  const mode = oneOf(modeText, replayModes);
  if (mode === undefined) return wrongChoice("mode", modeText, replayModes);
  const policy = oneOf(onMiss ?? policies[mode], known);
  if (policy === undefined) return wrongChoice("onMiss", onMiss ?? "", known);
  const timing = readTiming(timingText);
  if (timing === undefined) return wrong("timing", timingText, timingExpected);
  if (!skipStatus.every(isStatus)) return wrong("skipStatus", skipStatus.join(","), "statuses such as 429");
  return { mode, onMiss: policy, timing, timingText, skipStatus };
}
