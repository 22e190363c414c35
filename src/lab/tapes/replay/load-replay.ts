import { basename } from "node:path";
import { didYouMean } from "../../../kernel/base/nearest.ts";
import { tapeEnding, tapePlace } from "../format/place.ts";
import { TapeError } from "../format/tape-error.ts";
import { loadTapeMatcher } from "../match/tape-matcher.ts";
import { type ReplayOrder, TapeOrderError } from "../ports.ts";
import type { LoadedTape, MissPolicy, TapeProblem } from "../shapes.ts";
import { createReplay, isFinal, type ReplayingParts, readTiming, type Timing, timingExpected } from "./replay.ts";

const nameOf = (file: string): string => {
  const base = basename(file);
  const plain = base.endsWith(tapeEnding) ? base.slice(0, -tapeEnding.length) : base;
  return plain.replace(/[^\w.-]/g, "_").slice(0, 100) || "tape";
};

const mostReported = 5;

function reportAll(problems: readonly TapeProblem[], notice: (text: string) => void): void {
  for (const { file, line, detail, hint } of problems.slice(0, mostReported))
    notice(`${file}:${line}: ${detail}; ${hint}`);
  const more = problems.length - mostReported;
  if (more > 0) notice(`… and ${more} more problems with the tape`);
}

/** Damaged lines are reported and left out. @throws TapeOrderError when it is no tape, or the order is wrong */
export async function loadReplay(
  order: ReplayOrder,
  { owner, notice, redaction, openForward, openRecorder }: ReplayingParts,
) {
  const rules = rulesOf(order, openForward !== undefined);
  const { mode, onMiss, timing, skipStatus, approximate } = rules;
  const file = tapePlace(order.tape, process.cwd());
  const problems: TapeProblem[] = [];
  const matcher = await loadTapeMatcher(file, {
    skipStatus,
    nearness: mode === "new" ? "exact" : approximate ? "approximate" : "same_person",
    onProblem: (problem) => problems.push(problem),
    noise: redaction?.ignore,
    rules: redaction,
  }).catch((error) => {
    if (!(error instanceof TapeError)) throw error;
    const where = error.line === undefined ? "" : ` (${error.file}:${error.line})`;
    throw new TapeOrderError("tape", `${error.message}${where}`, error.hint, error);
  });
  reportAll(problems, notice);
  const name = nameOf(file);
  const recorder = mode === "new" ? await openRecorder?.() : undefined;
  const forward = recorder?.answer ?? (onMiss === "upstream" ? await openForward?.() : undefined);
  const { take } = createReplay({ name, matcher, onMiss, timing, forward, pass: recorder?.pass }, owner);
  return { name, file, matcher, rules, problems, take, recorder };
}

interface ReplayRules {
  readonly mode: LoadedTape["mode"];
  readonly onMiss: MissPolicy;
  readonly timing: Timing;
  /** As the user wrote it. */
  readonly timingText: string;
  readonly skipStatus: readonly number[];
  readonly approximate: boolean;
}

function wrong(key: keyof ReplayOrder, value: string, expected: string, hint = ""): TapeOrderError {
  const text = `${key} must be ${expected}, not ${JSON.stringify(value)}${hint}`;
  return new TapeOrderError(key, text, "see `phx-sim replay --help`");
}

/** The rules of an order. @param hasUpstream There is one to ask @throws TapeOrderError */
export function rulesOf(
  { isNew = false, onMiss, timing: timingText = "none", skipStatus = [], approximate = false }: Partial<ReplayOrder>,
  hasUpstream: boolean,
): ReplayRules {
  if (isNew && !hasUpstream)
    throw new TapeOrderError("upstream", "the mode new needs an upstream", "give us, eu, or an address");
  if (isNew && onMiss !== undefined && onMiss !== "upstream")
    throw wrong("onMiss", onMiss, "upstream with the mode new");
  const known = ["fail", "emulate", ...(hasUpstream ? ["upstream" as const] : [])] as const;
  const text = onMiss ?? (isNew ? "upstream" : "fail");
  const policy = known.find((it) => it === text);
  if (policy === undefined) throw wrong("onMiss", text, known.join(" or "), didYouMean(text, known));
  const timing = readTiming(timingText);
  if (timing === undefined) throw wrong("timing", timingText, timingExpected);
  if (!skipStatus.every(isFinal)) throw wrong("skipStatus", skipStatus.join(","), "statuses such as 429");
  return { mode: isNew ? "new" : "replay", onMiss: policy, timing, timingText, skipStatus, approximate };
}
