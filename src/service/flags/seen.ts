import { setImmediate as turn } from "node:timers/promises";
import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget, examineEvents } from "../../state/journal/search.ts";
import { flagLines } from "./decision-index.ts";
import { answered, usesIn } from "./decision-lines.ts";
import type { FlagDecision, FlagSeen, SeenRollout, SeenVariant } from "./decision-shapes.ts";
import { identifierKindOf, identifierOf, isWithin } from "./engine/bucket-hash.ts";
import type { CompiledFlag, Condition } from "./engine/compile.ts";
import type { Decision } from "./engine/decision.ts";
import { overridesFor } from "./engine/overrides.ts";
import { FlagFailure } from "./engine/reasons.ts";
import { entryOf, type Ruleset, tryFlag } from "./engine/ruleset.ts";
import type { Subject } from "./engine/run.ts";
import { groupTypeName } from "./explain/rule-words.ts";
import { rulesetWithout } from "./explanations.ts";
import { flagOf, noSuchFlag } from "./overrides.ts";
import type { FlagPorts } from "./ports.ts";
import { type RequestedSubject, subjectOf } from "./subjects.ts";

/** Distinct ids that are evaluated, at most: the newest. */
const mostIds = 10_000;
/** Read for one answer, at most: the page asks again and again. */
const farthest = { entries: 20_000, bytes: 24 * 1024 * 1024 };

const nothing: JsonObject = Object.freeze({});

const textIn = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);

const subjectOfEvent = ({ distinct_id: distinctId, properties }: StoredEvent): RequestedSubject => ({
  distinctId,
  deviceId: textIn(properties.$device_id),
  personProperties: nothing,
  groups: isObject(properties.$groups) ? properties.$groups : nothing,
  groupProperties: nothing,
});

const subjectOfRequest = (distinctId: string, asked: NonNullable<FlagDecision["asked"]>): RequestedSubject => ({
  distinctId,
  deviceId: asked.device_id ?? undefined,
  anonymousId: asked.anon_distinct_id ?? undefined,
  personProperties: asked.person_properties,
  groups: asked.groups,
  groupProperties: Object.fromEntries(Object.entries(asked.group_properties).filter(([, it]) => isObject(it))),
  address: asked.ip ?? undefined,
});

/** The newest distinct ids of a project: first those of requests for flags, with what they sent, then those of events. */
async function seenIds(log: TrafficLog, project: number, key: string) {
  const subjects = new Map<string, RequestedSubject>();
  const asked = new Set<string>();
  let lastAsked: string | undefined;
  const isSpent = createBudget(farthest);
  const add = (id: string, subject: () => RequestedSubject): void => {
    if (id !== "" && !subjects.has(id)) subjects.set(id, subject());
  };
  for await (const { n, line } of flagLines(log, { project }, () => true)) {
    const made = line && answered(line);
    const id = made?.distinct_id ?? "";
    const sent = made?.asked;
    if (sent) add(id, () => subjectOfRequest(id, sent));
    const isAsked = made?.flags.some((it) => it.key === key) ?? false;
    if (isAsked && id !== "") asked.add(id);
    for (const use of line ? usesIn(line) : []) {
      add(use.distinctId, () => subjectOfEvent(use.event));
      if (use.call.key === key) asked.add(use.distinctId);
    }
    if (isAsked) lastAsked ??= made?.at;
    if (isSpent(log.sizeOf(n)) || subjects.size >= mostIds) return { subjects, asked, lastAsked, isAll: false };
  }
  for await (const { event, size } of examineEvents(log, { project, outcome: "kept", order: "desc" })) {
    if (event) add(event.distinct_id, () => subjectOfEvent(event));
    if (isSpent(size) || subjects.size >= mostIds) return { subjects, asked, lastAsked, isAll: false };
  }
  return { subjects, asked, lastAsked, isAll: true };
}

/** Fewer expected on one side say nothing: the band is wider than the difference that one looks for. */
const fewest = 5;
const tail = 0.025;

/** What fair draws give: the middle 95 % of a binomial distribution. @param share In [0, 1] */
export function fairBand(count: number, share: number) {
  const expected = count * share;
  if (count === 0 || share <= 0 || share >= 1) return { expected, low: expected, high: expected };
  const odds = Math.log(share) - Math.log1p(-share);
  // in logarithms: the first probabilities of many draws are smaller than the smallest number
  let log = count * Math.log1p(-share);
  let below = 0;
  let low = -1;
  for (let k = 0; k <= count; k++) {
    below += Math.exp(log);
    if (low < 0 && below >= tail) low = k;
    if (below >= 1 - tail) return { expected, low: Math.max(low, 0), high: k };
    log += Math.log((count - k) / (k + 1)) + odds;
  }
  return { expected, low: Math.max(low, 0), high: count };
}

export function verdictOf(
  count: number,
  share: number,
  seen: number,
  { low, high }: ReturnType<typeof fairBand>,
): SeenVariant["verdict"] {
  if (count * Math.min(share, 1 - share) < fewest) return "too_few";
  return seen < low || seen > high ? "unlikely" : "as_expected";
}

const bins = 20;
/** Subjects that are evaluated before other work gets a turn. */
const slice = 500;

interface Unit {
  readonly buckets: Map<string, number>;
  without: number;
}

interface Tally {
  readonly reached: number[];
  readonly taken: number[];
  readonly units: Map<number | null, Unit>;
  readonly drawn: Map<string, string | null>;
  enrolled: number;
  heldOut: number;
  failed: number;
  off: number;
}

const hasRollout = ({ rollout }: Condition): boolean => rollout > 0 && rollout < 100;

/** The text that a set hashes for a subject; "" if there is none. */
function hashedFor(compiled: CompiledFlag, aggregation: number | null, subject: Subject): string {
  const kind = identifierKindOf(compiled, aggregation, subject, false);
  try {
    if (aggregation === null && compiled.byDevice && !subject.deviceId) return "";
    return identifierOf(kind, compiled.flag.key, aggregation, subject);
  } catch (error) {
    if (error instanceof FlagFailure) return "";
    throw error;
  }
}

function addHashes({ units }: Tally, compiled: CompiledFlag, { bucketOf }: Ruleset, subject: Subject): void {
  for (const [aggregation, unit] of units) {
    const identifier = hashedFor(compiled, aggregation, subject);
    if (identifier === "") unit.without++;
    else if (!unit.buckets.has(identifier)) unit.buckets.set(identifier, bucketOf(compiled.flag.key, identifier, ""));
  }
}

function addDecision(tally: Tally, { failed, reason, condition_index: index, value }: Decision): void {
  if (failed) tally.failed++;
  else if (reason.code === "super_condition_value") tally.enrolled++;
  else if (reason.code === "holdout_condition_value") tally.heldOut++;
  else if (reason.code === "condition_match" && index !== null && value !== false)
    tally.taken[index] = (tally.taken[index] ?? 0) + 1;
  else tally.off++;
}

const unitName = (compiled: CompiledFlag, aggregation: number | null, ruleset: Ruleset): string => {
  if (aggregation !== null) return groupTypeName(aggregation, ruleset);
  return compiled.byDevice ? "device id" : "distinct id";
};

function rolloutOf(buckets: Iterable<number>, percentage: number): Omit<SeenRollout, "unit" | "without"> {
  const counts = new Array<number>(bins).fill(0);
  let [count, within] = [0, 0];
  for (const bucket of buckets) {
    count++;
    if (isWithin(bucket, percentage)) within++;
    const at = Math.min(bins - 1, Math.floor(bucket * bins));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const share = percentage / 100;
  const band = fairBand(count, share);
  const verdict = verdictOf(count, share, within, band);
  return { percentage, threshold: share, count, within, bins: counts, ...band, verdict };
}

/** The variants that were drawn, against their shares. A share beyond 100 % is never reached. */
function splitOf(drawn: Iterable<string | null>, variants: readonly string[], ends: readonly number[]): SeenVariant[] {
  const counts = new Map<string | null, number>();
  let count = 0;
  for (const it of drawn) {
    count++;
    counts.set(it, (counts.get(it) ?? 0) + 1);
  }
  const last = Math.min(1, ends.at(-1) ?? 0);
  const end = (i: number) => Math.min(1, ends[i] ?? 0);
  const shares = variants.map((variant, i) => [variant, Math.max(0, end(i) - end(i - 1))] as const);
  const all = last < 1 - 1e-9 ? [...shares, [null, 1 - last] as const] : shares;
  return all.map(([variant, share]) => {
    const seen = counts.get(variant) ?? 0;
    const band = fairBand(count, share);
    return { variant, share, seen, ...band, verdict: verdictOf(count, share, seen, band) };
  });
}

function freshTally({ conditions }: CompiledFlag): Tally {
  const units = new Map<number | null, Unit>();
  for (const it of conditions) if (hasRollout(it)) units.set(it.aggregation, { buckets: new Map(), without: 0 });
  const zeros = () => conditions.map(() => 0);
  return { reached: zeros(), taken: zeros(), units, drawn: new Map(), enrolled: 0, heldOut: 0, failed: 0, off: 0 };
}

function addSubject(tally: Tally, ruleset: Ruleset, entry: NonNullable<ReturnType<typeof entryOf>>, subject: Subject) {
  let hashed: string | undefined;
  const { decision } = tryFlag(ruleset, entry, subject, undefined, {
    hashed({ use, identifier }) {
      if (use === "variant" && identifier !== "") hashed = identifier;
    },
    tried(index) {
      tally.reached[index] = (tally.reached[index] ?? 0) + 1;
    },
  });
  addHashes(tally, entry.compiled, ruleset, subject);
  if (!decision) return;
  addDecision(tally, decision);
  if (hashed !== undefined && !decision.failed) tally.drawn.set(hashed, decision.variant);
}

/**
 * What the rules give to the distinct ids that were seen, and where their hashes lie. Overrides of the flag do not count.
 * @throws SimError not_found
 */
export async function seenOf(ports: FlagPorts, project: StoredProject, key: string): Promise<FlagSeen> {
  const flag = flagOf(ports, project, key);
  if (!flag) throw noSuchFlag(ports, project, key);
  const overrides = overridesFor(ports.worlds, project.id, undefined);
  const ruleset = rulesetWithout(ports, project, overrides, key);
  const entry = entryOf(ruleset, key);
  if (!entry) throw noSuchFlag(ports, project, key);
  const { compiled } = entry;
  const found = await seenIds(ports.log, project.id, key);
  const tally = freshTally(compiled);
  let done = 0;
  for (const asked of flag.active ? found.subjects.values() : []) {
    addSubject(tally, ruleset, entry, subjectOf(ports, project, asked));
    if (++done % slice === 0) await turn();
  }
  const rolloutFor = (it: Condition): SeenRollout | null => {
    const unit = hasRollout(it) && flag.active ? tally.units.get(it.aggregation) : undefined;
    if (!unit) return null;
    return {
      ...rolloutOf(unit.buckets.values(), it.rollout),
      unit: unitName(compiled, it.aggregation, ruleset),
      without: unit.without,
    };
  };
  const countsOf = (index: number) => ({ index, reached: tally.reached[index] ?? 0, taken: tally.taken[index] ?? 0 });
  return {
    project: project.id,
    key,
    active: flag.active,
    ids: found.subjects.size,
    asked: found.asked.size,
    last_asked: found.lastAsked ?? null,
    is_all: found.isAll,
    sets: compiled.rules
      ? compiled.rules.rules.map(({ index }) => ({ ...countsOf(index), rollout: null }))
      : compiled.conditions.map((it) => ({ ...countsOf(it.index), rollout: rolloutFor(it) })),
    enrolled: tally.enrolled,
    held_out: tally.heldOut,
    failed: tally.failed,
    off: tally.off,
    variants:
      compiled.variants.length === 0 || !flag.active
        ? null
        : {
            unit: unitName(compiled, compiled.aggregation, ruleset),
            count: tally.drawn.size,
            rows: splitOf(tally.drawn.values(), compiled.variants, compiled.variantEnds),
          },
  };
}
