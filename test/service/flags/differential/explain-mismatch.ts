import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { type Answer, type Answers, silence } from "./answers.ts";
import type { FlagFacts, Probe } from "./documents.ts";
import { filterDifferences, seenBy } from "./filter-differences.ts";
import { flagDifferences } from "./flag-differences.ts";
import { groupTypes, type Who } from "./subjects.ts";
import type { WorldDraft } from "./world.ts";

/** What both sides say of the same flags and subject. */
export interface BothAnswers {
  readonly ours: Answers;
  readonly theirs: Answers;
}

/** One subject in a world. */
export interface Case {
  readonly draft: WorldDraft;
  readonly flags: ReadonlyMap<string, FlagFacts>;
  readonly who: Who;
  readonly answers: BothAnswers;
  /** The answers about single filters. */
  readonly probes: BothAnswers;
}

interface Pair {
  readonly ours: Answer;
  readonly theirs: Answer;
}

/** What the sides say of one flag. */
export const pairOf = ({ ours, theirs }: BothAnswers, key: string): Pair => ({
  ours: ours.get(key) ?? silence,
  theirs: theirs.get(key) ?? silence,
});

/** The same value and payload. That neither side can compute a flag does not count. */
export const isSame = ({ ours, theirs }: Pair): boolean =>
  ours.value === theirs.value && ours.failure === undefined && isDeepStrictEqual(ours.payload, theirs.payload);

/** Is a flag another one on either side to those that ask for it? It is off when it is not in the answer. */
const isOtherToDependents = ({ ours, theirs }: Pair): boolean =>
  ours.failure !== undefined || (ours.value ?? false) !== theirs.value;

/** The properties of what a condition set is about: there the client looks for every filter's key. */
function propertiesFor(aggregation: number | null, who: Who): JsonObject {
  if (aggregation === null) return { distinct_id: who.distinctId, ...who.properties };
  const group = who.groups[groupTypes[aggregation] ?? ""];
  return { $group_key: group?.key ?? "", ...group?.properties };
}

/** There the service looks for a filter's key. */
function propertiesOfService({ aggregation, filter }: Probe, who: Who): JsonObject {
  if (filter.type === "person_metadata") return {};
  if (filter.type === "group" && aggregation === null) return {};
  return propertiesFor(filter.type === "person" ? null : aggregation, who);
}

const show = (value: unknown): string => JSON.stringify(value) ?? "nothing";
const tell = ({ value, payload, failure }: Answer): string =>
  failure ?? show(value) + (payload === undefined ? "" : ` with ${show(payload)}`);

function unexplained(what: string, { who, draft }: Case, { ours, theirs }: Pair): Error {
  return new Error(
    [
      `unexplained: ${what}`,
      `  the engine:   ${tell(ours)}`,
      `  posthog-node: ${tell(theirs)}`,
      `  subject ${show(who)}`,
      `  now ${draft.now}, ${draft.timezone}, property matching version ${draft.matchingVersion}`,
    ].join("\n"),
  );
}

/** Does the client not come to the filter, so that a probe reports nothing? Differences of flags name it. */
function isOutOfReach({ aggregation }: Probe, who: Who): boolean {
  if (aggregation === null) return who.distinctId === "";
  const type = groupTypes[aggregation];
  return who.distinctId === "" || type === undefined || who.groups[type]?.key === "";
}

/** Why the sides differ on a single filter; none when they do not. @throws Error when nothing explains it. */
function explainProbe(probe: Probe, it: Case): string[] {
  const pair = pairOf(it.probes, probe.flagKey);
  const { failure } = pair.ours;
  if (isSame(pair) || failure === "unsupported_operator" || isOutOfReach(probe, it.who)) return [];
  const { operator = "exact", value: expected, type } = probe.filter;
  const mismatch = {
    operator: String(operator),
    expected,
    actual: seenBy(propertiesFor(probe.aggregation, it.who), probe.filter),
    actualOfService: seenBy(propertiesOfService(probe, it.who), probe.filter),
    type,
    aggregation: probe.aggregation,
    timezone: it.draft.timezone,
    ours: pair.ours.value,
    theirs: pair.theirs.value,
  };
  const names = filterDifferences.filter((row) => row.explains(mismatch)).map(({ name }) => name);
  if (names.length > 0) return names;
  const where = `group type ${show(probe.aggregation)}`;
  throw unexplained(`the filter ${show(probe.filter)} on ${show(mismatch.actual)} (${where})`, it, pair);
}

/** All that a flag asks for, step by step. */
function neededBy(flag: FlagFacts, flags: Case["flags"]): (FlagFacts | undefined)[] {
  const found = new Set<FlagFacts | undefined>();
  const open: (string | undefined)[] = [...flag.dependencies];
  while (open.length > 0) {
    const key = open.pop();
    const target = key === undefined ? undefined : flags.get(key);
    if (found.has(target)) continue;
    found.add(target);
    open.push(...(target?.dependencies ?? []));
  }
  return [...found];
}

/** What explains a flag's difference in itself, whatever it depends on. */
function ownReasons(flag: FlagFacts, it: Case): string[] {
  const mismatch = { flag, who: it.who, needed: neededBy(flag, it.flags), ...pairOf(it.answers, flag.key) };
  const ofFlag = flagDifferences.filter((row) => row.explains(mismatch)).map(({ name }) => name);
  return [...ofFlag, ...flag.probes.flatMap((probe) => explainProbe(probe, it))];
}

/**
 * The names of all differences that play a part where the sides differ on a flag: its own and those of the
 * flags that it depends on.
 * @throws Error with the case when there are none, or when a filter on its own differs without a reason.
 */
export function explainFlag(flag: FlagFacts, it: Case): ReadonlySet<string> {
  const others = neededBy(flag, it.flags).filter((target) => target !== undefined);
  const differing = others.filter((target) => target !== flag && isOtherToDependents(pairOf(it.answers, target.key)));
  const names = new Set([flag, ...differing].flatMap((target) => ownReasons(target, it)));
  if (names.size > 0) return names;
  throw unexplained(`the flag ${flag.key} ${show(flag.document)}`, it, pairOf(it.answers, flag.key));
}
