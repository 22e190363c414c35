import { basename } from "node:path";
import type { Note } from "../model/traffic.ts";
import { loadDeck } from "../tape/deck/load.ts";
import { tapeEnding, tapePlace } from "../tape/place.ts";
import { restore } from "../tape/redact/bind.ts";
import type { RedactionRules } from "../tape/redact/rules.ts";
import { readBody } from "../tape/side-files.ts";
import { TapeError } from "../tape/tape-error.ts";
import type { Deck, TapeProblem } from "../tape/types.ts";
import type { RecordedAnswer } from "./answer.ts";
import { type Abilities, type ReplayRules, type ReplayWish, rulesOf } from "./order.ts";
import { createReplay, type Decided, type Sent } from "./replay.ts";

/** A tape cannot be put in force: which part of the order is wrong, and what to do about it. */
export class ReplayOrderError extends Error {
  readonly key: keyof ReplayWish | "tape";
  readonly hint: string;

  constructor(key: ReplayOrderError["key"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ReplayOrderError";
    this.key = key;
    this.hint = hint;
  }
}

/** A tape, and how it is to answer. */
export interface ReplayOrder extends ReplayWish {
  /** A name or a path. */
  readonly tape: string;
  /** Where paths start from. */
  readonly folder: string;
}

interface Around<C, F> {
  read(call: C, family: F): Note;
  notice(text: string): void;
  /** Checked rules of the project, over those that the tape carries. */
  redaction?: RedactionRules | undefined;
  /** Opens the way to the service; without it the policy `upstream` is refused. */
  openForward?: (() => Promise<(call: C) => Promise<RecordedAnswer>>) | undefined;
  /** Opens the tape for what it has no answer for; without it the mode `new` is refused. */
  openRecorder?: (() => Promise<Recorder<C>>) | undefined;
}

/** Asks the service for what the tape has no answer for, and records what it says on the tape. */
export interface Recorder<C> {
  /** Never rejects: no answer is 502. */
  answer(call: C): Promise<RecordedAnswer>;
  /** Records a call whose answer nobody waits for. */
  pass(call: C): void;
  /** Exchanges that were recorded so far. */
  added(): number;
  close(): Promise<void>;
}

/** As answers tell it in a header. */
const nameOf = (file: string): string => {
  const base = basename(file);
  const plain = base.endsWith(tapeEnding) ? base.slice(0, -tapeEnding.length) : base;
  return plain.replace(/[^\w.-]/g, "_").slice(0, 100) || "tape";
};

function rulesIn(order: ReplayWish, abilities: Abilities): ReplayRules {
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

/** Problems that are told one by one. */
const mostTold = 5;

function tell(problems: readonly TapeProblem[], notice: (text: string) => void): void {
  for (const { file, line, detail, hint } of problems.slice(0, mostTold))
    notice(`${file}:${line}: ${detail}; ${hint}`);
  const more = problems.length - mostTold;
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
 * Loads a tape to answer from it. What is damaged on it is told and left out.
 * @throws ReplayOrderError when it is no tape, or is to answer in a way that there is not
 */
export async function loadReplay<C extends Sent, F extends string>(
  order: ReplayOrder,
  { read, notice, redaction, openForward, openRecorder }: Around<C, F>,
): Promise<LoadedReplay<C, F>> {
  const rules = rulesIn(order, {
    forwards: openForward !== undefined,
    records: openRecorder !== undefined,
  });
  const file = tapePlace(order.tape, order.folder);
  const problems: TapeProblem[] = [];
  const deck = await deckOf(file, rules, problems, redaction);
  tell(problems, notice);
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
      readSide: (body) => readBody(file, body),
      restore,
      ...(forward && { forward }),
      ...(recorder && { pass: recorder.pass }),
    },
    read,
  );
  return { name, file, deck, rules, problems, take: replay.take, ...(recorder && { recorder }) };
}
