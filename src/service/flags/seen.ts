import { setImmediate as turn } from "node:timers/promises";
import type { StoredProject } from "../../state/documents/world.ts";
import { identifierKindOf, identifierOf, isWithin } from "./engine/bucket-hash.ts";
import type { CompiledFlag, Condition } from "./engine/compile.ts";
import type { Decision } from "./engine/decision.ts";
import { overridesFor } from "./engine/overrides.ts";
import { FlagFailure } from "./engine/reasons.ts";
import { entryOf, type Ruleset, tryFlag } from "./engine/ruleset.ts";
import type { Subject } from "./engine/run.ts";
import { groupTypeName } from "./explain/rule-words.ts";
import { rulesetWithout } from "./explanations.ts";
import { fairBand, verdictOf } from "./fair-split.ts";
import { flagOf, noSuchFlag } from "./overrides.ts";
import type { FlagPorts } from "./ports.ts";
import { seenIds } from "./seen-ids.ts";
import type { FlagSeen, SeenRollout, SeenVariant } from "./seen-shapes.ts";
import { subjectOf } from "./subjects.ts";

/** Bars of a histogram. */
const bins = 20;
/** Subjects that are evaluated before other work gets a turn. */
const slice = 500;

/** Buckets of what is hashed for one group type or for persons. */
interface Unit {
  readonly buckets: Map<string, number>;
  without: number;
}

/** What is counted while subjects are evaluated. */
interface Tally {
  readonly reached: number[];
  readonly taken: number[];
  readonly units: Map<number | null, Unit>;
  /** Variant by what was hashed for it. */
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

/** Adds the subject's hash to each unit that a rollout is about; hashes do not depend on properties. */
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

/** The buckets of a unit against the threshold of a condition set. */
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
  const shares = variants.map(
    (variant, i) => [variant, Math.max(0, Math.min(1, ends[i] ?? 0) - Math.min(1, ends[i - 1] ?? 0))] as const,
  );
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

/** Evaluates the flag for a subject and counts what decides. */
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
  const found = await seenIds(ports.log, { project: project.id, key });
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
