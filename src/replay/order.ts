import { didYouMean } from "../kernel/nearest.ts";
import type { MissPolicy } from "../tape/types.ts";
import { readTiming, type Timing, timingExpected } from "./timing.ts";

/**
 * Modes in which a tape answers. `replay` is strict: what is not on the tape is an error; `hybrid`: the emulator's;
 * `new`: the upstream's, and is recorded.
 */
type ReplayMode = "replay" | "hybrid" | "new";

/** Other words for modes. */
const synonyms: Readonly<Record<string, ReplayMode>> = { none: "replay" };

/** What the sim can do besides answering from the tape and from its own world. */
export interface Abilities {
  /** Is there an upstream to ask? */
  readonly forwards: boolean;
  /** May its answers be recorded on the tape? */
  readonly records: boolean;
}

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

const policies: Readonly<Record<ReplayMode, MissPolicy>> = {
  replay: "fail",
  hybrid: "emulate",
  new: "upstream",
};

const oneOf = <T extends string>(value: string, choices: readonly T[]): T | undefined =>
  choices.find((it) => it === value);

const wrong = (key: keyof ReplayWish, value: string, expected: string, hint = ""): WrongWish => ({
  key,
  detail: `must be ${expected}, not ${JSON.stringify(value)}${hint}`,
});

const wrongChoice = (key: keyof ReplayWish, value: string, choices: readonly string[]): WrongWish =>
  wrong(key, value, choices.join(" or "), didYouMean(value, choices));

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 200 && value <= 599;

/** The rules that a wish stands for. */
export function rulesOf(
  { mode: modeText = "replay", onMiss, timing: timingText = "none", skipStatus = [] }: ReplayWish,
  { forwards, records }: Abilities,
): ReplayRules | WrongWish {
  const known: readonly MissPolicy[] = forwards ? ["fail", "emulate", "upstream"] : ["fail", "emulate"];
  const modes: readonly ReplayMode[] = records ? ["replay", "hybrid", "new"] : ["replay", "hybrid"];
  const mode = oneOf(Object.hasOwn(synonyms, modeText) ? (synonyms[modeText] ?? "") : modeText, modes);
  if (mode === undefined) return wrongChoice("mode", modeText, modes);
  if (mode === "new" && onMiss !== undefined && onMiss !== "upstream")
    return wrong("onMiss", onMiss, "upstream with the mode new");
  const policy = oneOf(onMiss ?? policies[mode], known);
  if (policy === undefined) return wrongChoice("onMiss", onMiss ?? "", known);
  const timing = readTiming(timingText);
  if (timing === undefined) return wrong("timing", timingText, timingExpected);
  if (!skipStatus.every(isStatus)) return wrong("skipStatus", skipStatus.join(","), "statuses such as 429");
  return { mode, onMiss: policy, timing, timingText, skipStatus };
}
