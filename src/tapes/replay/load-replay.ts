import { basename } from "node:path";
import { didYouMean } from "../../base/nearest.ts";
import { tapeEnding, tapePlace } from "../format/place.ts";
import { TapeError } from "../format/tape-error.ts";
import { loadDeck } from "../match/deck.ts";
import type { Deck, ReplayOrder } from "../ports.ts";
import { restore } from "../redact/bind.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { MissPolicy, TapeProblem } from "../shapes.ts";
import {
  createReplay,
  type Decided,
  type RecordedAnswer,
  readTiming,
  type Sent,
  type Timing,
  timingExpected,
} from "./replay.ts";

/** A tape cannot be put in force: which part of the order is wrong, and what to do about it. */
export class ReplayOrderError extends Error {
  readonly key: keyof ReplayOrder;
  readonly hint: string;

  constructor(key: ReplayOrderError["key"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ReplayOrderError";
    this.key = key;
    this.hint = hint;
  }
}

interface Around<C, F> {
  owner(call: C, family: F): number | null;
  notice(text: string): void;
  /** Checked rules of the project, over those that the tape carries. */
  redaction?: RedactionRules | undefined;
  /** Opens the way to the service; without it the policy `upstream` is refused. */
  openForward?: (() => Promise<(call: C) => Promise<RecordedAnswer>>) | undefined;
  /** Opens the tape for what it has no answer for; without it the mode `new` is refused. */
  openRecorder?: (() => Promise<Recorder<C>>) | undefined;
}

/** Asks the service for what the tape has no answer for, and records its answers on the tape. */
export interface Recorder<C> {
  /** Never rejects: no answer is 502. */
  answer(call: C): Promise<RecordedAnswer>;
  /** Records a call whose answer is not waited for. */
  pass(call: C): void;
  /** Exchanges that were recorded so far. */
  added(): number;
  close(): Promise<void>;
}

/** The tape's name as a header can carry it. */
const nameOf = (file: string): string => {
  const base = basename(file);
  const plain = base.endsWith(tapeEnding) ? base.slice(0, -tapeEnding.length) : base;
  return plain.replace(/[^\w.-]/g, "_").slice(0, 100) || "tape";
};

function rulesIn(order: ReplayOrder, abilities: Abilities): ReplayRules {
  const rules = rulesOf(order, abilities);
  if (!("detail" in rules)) return rules;
  throw new ReplayOrderError(rules.key, `${rules.key} ${rules.detail}`, "see `phx-sim replay --help`");
}

async function deckOf(
  file: string,
  { mode, skipStatus }: ReplayRules,
  problems: TapeProblem[],
  rules?: RedactionRules,
): Promise<Deck> {
  try {
    return await loadDeck(file, {
      skipStatus,
      exactOnly: mode === "new",
      onProblem: (problem) => problems.push(problem),
      ...(rules?.ignore && { noise: rules.ignore }),
      rules,
    });
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    const where = error.line === undefined ? "" : ` (${error.file}:${error.line})`;
    throw new ReplayOrderError("tape", `${error.message}${where}`, error.hint, error);
  }
}

/** Most problems that are reported one by one. */
const mostReported = 5;

function reportAll(problems: readonly TapeProblem[], notice: (text: string) => void): void {
  for (const { file, line, detail, hint } of problems.slice(0, mostReported))
    notice(`${file}:${line}: ${detail}; ${hint}`);
  const more = problems.length - mostReported;
  if (more > 0) notice(`… and ${more} more problems with the tape`);
}

/** A tape that answers, and what is known of it. */
interface LoadedReplay<C, F> {
  readonly name: string;
  readonly file: string;
  readonly deck: Deck;
  readonly rules: ReplayRules;
  readonly problems: readonly TapeProblem[];
  /** With the mode `new`. */
  readonly recorder?: Recorder<C>;
  /** What is to become of a call; undefined: the emulator answers. */
  take(call: C, family: F): Decided | undefined;
}

/**
 * Loads a tape to answer from it. Damaged lines are reported and left out.
 * @throws ReplayOrderError when it is no tape, or is to answer in a way that there is not
 */
export async function loadReplay<C extends Sent, F extends string>(
  order: ReplayOrder,
  { owner, notice, redaction, openForward, openRecorder }: Around<C, F>,
): Promise<LoadedReplay<C, F>> {
  const rules = rulesIn(order, {
    forwards: openForward !== undefined,
    records: openRecorder !== undefined,
  });
  const file = tapePlace(order.tape, process.cwd());
  const problems: TapeProblem[] = [];
  const deck = await deckOf(file, rules, problems, redaction);
  reportAll(problems, notice);
  const name = nameOf(file);
  const { onMiss, timing } = rules;
  const recorder = rules.mode === "new" ? await openRecorder?.() : undefined;
  const forward = recorder?.answer ?? (onMiss === "upstream" ? await openForward?.() : undefined);
  const replay = createReplay<C, F>(
    {
      name,
      deck,
      onMiss,
      timing,
      restore,
      ...(forward && { forward }),
      ...(recorder && { pass: recorder.pass }),
    },
    owner,
  );
  return { name, file, deck, rules, problems, take: replay.take, ...(recorder && { recorder }) };
}

/**
 * Modes in which a tape answers. `replay` is strict: what is not on the tape is an error; `hybrid`: the emulator's;
 * `new`: the upstream's, and is recorded.
 */
type ReplayMode = "replay" | "hybrid" | "new";

/** Other words for modes. */
const synonyms: Readonly<Record<string, ReplayMode>> = { none: "replay" };

/** What the sim can do other than answer from the tape and from its own world. */
interface Abilities {
  /** True if there is an upstream to ask. */
  readonly forwards: boolean;
  /** True if its answers may be recorded on the tape. */
  readonly records: boolean;
}

type ReplayOptions = Omit<ReplayOrder, "tape">;

/** How a tape answers. */
interface ReplayRules {
  readonly mode: ReplayMode;
  readonly onMiss: MissPolicy;
  readonly timing: Timing;
  /** As the user wrote it. */
  readonly timingText: string;
  /** Recorded answers with these statuses are not given. */
  readonly skipStatus: readonly number[];
}

/** What is wrong with an order: its key, and a sentence. */
interface WrongOrder {
  readonly key: keyof ReplayOptions;
  readonly detail: string;
}

const policies: Readonly<Record<ReplayMode, MissPolicy>> = {
  replay: "fail",
  hybrid: "emulate",
  new: "upstream",
};

const oneOf = <T extends string>(value: string, choices: readonly T[]): T | undefined =>
  choices.find((it) => it === value);

const wrong = (key: keyof ReplayOptions, value: string, expected: string, hint = ""): WrongOrder => ({
  key,
  detail: `must be ${expected}, not ${JSON.stringify(value)}${hint}`,
});

const wrongChoice = (key: keyof ReplayOptions, value: string, choices: readonly string[]): WrongOrder =>
  wrong(key, value, choices.join(" or "), didYouMean(value, choices));

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 200 && value <= 599;

/** The rules of an order. */
export function rulesOf(
  { mode: modeText = "replay", onMiss, timing: timingText = "none", skipStatus = [] }: ReplayOptions,
  { forwards, records }: Abilities,
): ReplayRules | WrongOrder {
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
