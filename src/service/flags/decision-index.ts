import { setImmediate as turn } from "node:timers/promises";
import { fnv1a } from "../../kernel/base/hash.ts";
import { inSlices } from "../../kernel/base/work.ts";
import { type Counter, countsOf, freshCount, oneByOne, type RowCount } from "../../state/journal/counting.ts";
import type { IndexedRequest, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { slice } from "../../state/journal/search.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { answered, differs, evaluatedLocally, follows, requestIdIn, type Use, usesIn } from "./decision-lines.ts";
import type { FlagDecision, FlagTotal } from "./decision-shapes.ts";

/** Requests whose flags and subjects are remembered: the others are read when they are searched. */
const mostRequests = 100_000;
/** Flags that are counted separately, and values of one. */
const mostFlags = 5_000;
const mostValues = 100;
/** Subjects whose latest answers are remembered, for the uses that follow, and uses that wait for their answer. */
const mostSubjects = 1_000;
const answersOfOne = 5;
const mostWaiting = 1_000;

interface Given {
  readonly made: FlagDecision;
  readonly requestId: string | null;
}

interface Tally {
  readonly project: number | null;
  readonly key: string;
  differs: number;
  /** By the value's JSON: true and "true" are two. */
  readonly values: Map<string, { readonly value: boolean | string | null; served: number; called: number }>;
}

interface DecisionCounts extends RowCount {
  readonly tallies: Map<string, Tally>;
  /** Bits of the flags, and of the subjects, that a request is about: a bit that is missing rules it out. */
  readonly bits: Map<number, readonly [flags: number, subjects: number]>;
  /** Latest answers by subject, the newest first. */
  readonly given: Map<string, Given[]>;
  /** Uses whose answers are further back. */
  waiting: Use[];
}

/** Two bits of 32: others that share both are read, and found to be others. */
function bitOf(text: string): number {
  const hash = fnv1a(text);
  return (1 << (hash & 31)) | (1 << ((hash >>> 16) & 31));
}

const bitsOf = (texts: Iterable<string>): number => {
  let bits = 0;
  for (const text of texts) bits |= bitOf(text);
  return bits;
};

const subjectKey = (project: number | null, distinctId: string | null): string => `${project} ${distinctId}`;

function tallyOf({ tallies }: DecisionCounts, project: number | null, key: string): Tally | undefined {
  const id = `${project} ${key}`;
  const known = tallies.get(id);
  if (known || tallies.size >= mostFlags) return known;
  const made: Tally = { project, key, differs: 0, values: new Map() };
  tallies.set(id, made);
  return made;
}

function addValue(tally: Tally | undefined, value: boolean | string | null, what: "served" | "called"): void {
  if (!tally) return;
  const text = JSON.stringify(value);
  const known = tally.values.get(text);
  if (known) known[what]++;
  else if (tally.values.size < mostValues) tally.values.set(text, { value, served: 0, called: 0, [what]: 1 });
}

function compareUse(counts: DecisionCounts, { call, line }: Use, { made }: Given): void {
  // An answer may lack a flag that the app used after it.
  const [flags, subjects] = counts.bits.get(made.request) ?? [];
  if (flags !== undefined && subjects !== undefined) counts.bits.set(made.request, [flags | bitOf(call.key), subjects]);
  const tally = differs(call, made) ? tallyOf(counts, line.project, call.key) : undefined;
  if (tally) tally.differs++;
}

/** A use that came after what was read: its answer is among the latest, or is not known any more. */
function compareNewUse(counts: DecisionCounts, use: Use): void {
  const answers = counts.given.get(subjectKey(use.line.project, use.distinctId)) ?? [];
  const found = answers.find((it) => follows(use, it.made, it.requestId));
  if (found) compareUse(counts, use, found);
}

function keepAnswer({ given }: DecisionCounts, answer: Given, isOlder: boolean): void {
  const key = subjectKey(answer.made.project, answer.made.distinct_id);
  const known = given.get(key) ?? [];
  if (isOlder) {
    if (known.length === answersOfOne || (known.length === 0 && given.size >= mostSubjects)) return;
    given.set(key, [...known, answer]);
    return;
  }
  given.delete(key);
  given.set(key, [answer, ...known].slice(0, answersOfOne));
  for (const oldest of given.keys()) if (given.size > mostSubjects) given.delete(oldest);
}

function addAnswer(counts: DecisionCounts, answer: Given, isDown: boolean): void {
  const { made } = answer;
  for (const { key, value } of made.flags) addValue(tallyOf(counts, made.project, key), value, "served");
  keepAnswer(counts, answer, isDown);
  if (!isDown) return;
  const mine = counts.waiting.filter((it) => follows(it, made, answer.requestId));
  if (mine.length === 0) return;
  for (const use of mine) compareUse(counts, use, answer);
  counts.waiting = counts.waiting.filter((it) => !mine.includes(it));
}

function addLine(counts: DecisionCounts, line: TrafficLine, isDown: boolean): void {
  const uses = usesIn(line);
  for (const use of isDown ? uses : uses.toReversed()) {
    const tally = tallyOf(counts, line.project, use.call.key);
    addValue(tally, use.call.response, "called");
    if (use.isLocal) for (const { value } of evaluatedLocally(use).flags) addValue(tally, value, "served");
    else if (!isDown) compareNewUse(counts, use);
    else if (counts.waiting.length < mostWaiting) counts.waiting.push(use);
  }
  const made = answered(line);
  if (counts.bits.size < mostRequests) {
    // A request that failed is about each flag that it asked for.
    const decided = made?.status === 200 ? made.flags.map((it) => it.key) : (made?.asked?.keys ?? undefined);
    const flags = made && !decided ? -1 : bitsOf([...(decided ?? []), ...uses.map((it) => it.call.key)]);
    const subjects = [made?.distinct_id ?? [], uses.map((it) => it.distinctId)].flat();
    counts.bits.set(line.n, [flags, bitsOf(subjects)]);
  }
  if (made) addAnswer(counts, { made, requestId: requestIdIn(line) }, isDown);
}

const counterOf = (log: TrafficLog): Counter<DecisionCounts> => ({
  first: () => log.firstRequest,
  last: () => log.lastRequest,
  *range(counts, from, to, isDown) {
    const found = oneByOne<IndexedRequest>((use) => log.eachRequest(from, to, { flags: true }, use), isDown);
    for (const { n } of found) {
      const line = yield* log.reading(n);
      if (line) addLine(counts, line, isDown);
      else counts.isPart = true;
      yield n;
    }
  },
});

function shown({ project, key, differs: differing, values }: Tally): FlagTotal {
  const rows = [...values.values()].sort((a, b) => b.served - a.served || b.called - a.called);
  const sum = (what: "served" | "called") => rows.reduce((all, it) => all + it[what], 0);
  return { project, key, served: sum("served"), called: sum("called"), differs: differing, values: rows };
}

/**
 * The index is built on first use, from the requests that the log's index names, and continues with what arrives:
 * captures pay nothing for it.
 */
export function createDecisionIndex(log: TrafficLog) {
  const countsByKey = countsOf<DecisionCounts>(log, 1);
  const read = () =>
    countsByKey.get("", () => ({
      counter: counterOf(log),
      count: { ...freshCount(log.lastRequest), tallies: new Map(), bits: new Map(), given: new Map(), waiting: [] },
    }));
  return {
    async totals(project: number | undefined) {
      const { count, progress } = await read();
      const flags = [...count.tallies.values()].filter((it) => project === undefined || it.project === project);
      const complete = progress.complete && count.tallies.size < mostFlags;
      return { ...progress, complete, flags: flags.map(shown) };
    },
    /** A test of requests: false where one says nothing about the flag, or the subject. Absent ones do not restrict. */
    async finder({ key, distinctId }: { key: string | undefined; distinctId: string | undefined }) {
      if (key === undefined && distinctId === undefined) return () => true;
      const { bits } = (await read()).count;
      const flag = key === undefined ? 0 : bitOf(key);
      const subject = distinctId === undefined ? 0 : bitOf(distinctId);
      return (n: number) => {
        const [flags = -1, subjects = -1] = bits.get(n) ?? [];
        return (flags & flag) === flag && (subjects & subject) === subject;
      };
    },
  };
}

export type DecisionIndex = ReturnType<typeof createDecisionIndex>;

/** The lines of requests that have to do with flags and pass a test, newest first, with turns for other work. */
export async function* flagLines(
  log: TrafficLog,
  { since = 0, ...within }: { project?: number | undefined; before?: number; since?: number | undefined },
  test: (n: number) => boolean,
) {
  let looked = 0;
  for (const n of log.requestsInSteps({ ...within, flags: true })) {
    if (n === undefined || ++looked % slice === 0) await turn();
    if (n !== undefined && n <= since) return;
    if (n !== undefined && test(n)) yield { n, line: await inSlices(log.reading(n)) };
  }
}
