import type { Cohort, FeatureFlag } from "../../../state/documents/world.ts";
import { createBucketMemory } from "./bucket-hash.ts";
import type { CompiledCohorts } from "./cohort-tree.ts";
import { compileCohorts } from "./cohorts.ts";
import { type CompiledFlag, compileFlag } from "./compile.ts";
import type { Decision } from "./decision.ts";
import { type FlagEntry, orderFlags, withDependencies } from "./dependencies.ts";
import { decide } from "./evaluate.ts";
import type { FlagMatching } from "./filters.ts";
import { createPatternCheck } from "./pattern.ts";
import type { BucketOf, EvaluationRecorder, EvaluationRun, FlagValue, Subject } from "./run.ts";
import { zoneOf } from "./zone.ts";

/** All that decides a project's flags. Documents are replaced, never changed in place. */
export interface RulesetSource {
  /** The project's flags, in the document's order; also those that are inactive or deleted. */
  readonly flags: readonly FeatureFlag[];
  readonly cohorts: readonly Cohort[];
  /** Names of the group types; the position is the type's index. Only for explanations. */
  readonly groupTypes?: readonly string[];
  /** 1: filters that look like booleans compare truthiness; 2: they compare text. */
  readonly propertyMatchingVersion: 1 | 2;
  /** IANA name of the project's time zone; an unknown one is UTC. */
  readonly timezone: string;
}

export interface Ruleset {
  readonly source: RulesetSource;
  readonly matching: FlagMatching;
  /** The flags that are evaluated: neither inactive nor deleted. In the document's order. */
  readonly flags: readonly CompiledFlag[];
  readonly entries: readonly FlagEntry[];
  /** Dependencies first. */
  readonly ordered: readonly FlagEntry[];
  readonly cohorts: CompiledCohorts;
  /** Remembers what it has hashed; a ruleset shares it with the one that it was made from. */
  readonly bucketOf: BucketOf;
  readonly hasDependencies: boolean;
}

/** The flag that a filter asks for by its id or key; undefined where there is none. */
export const entryFor = ({ entries }: Ruleset, reference: number | string): FlagEntry | undefined =>
  entries.find(({ names }) => names.includes(reference));

export interface FlagResult {
  readonly compiled: CompiledFlag;
  readonly decision: Decision;
}

export interface Selection {
  /** Only the flags with these keys, and all that they depend on. */
  readonly keys?: ReadonlySet<string> | undefined;
  /** Flags for which it is false are not evaluated; to others they are `false`. */
  readonly isSelected?: ((flag: FeatureFlag) => boolean) | undefined;
}

const isEvaluated = ({ flag }: CompiledFlag): boolean => flag.active && !flag.deleted;

const hasSameMatching = (source: RulesetSource, other: RulesetSource): boolean =>
  source.propertyMatchingVersion === other.propertyMatchingVersion && source.timezone === other.timezone;

const compiledBefore = (previous: Ruleset | undefined): Map<FeatureFlag, CompiledFlag> =>
  new Map(previous?.entries.map(({ compiled }) => [compiled.flag, compiled]));

/**
 * Compiles the flags of a project together. From `previous` (an older ruleset of the same project) it
 * takes the flags and cohorts whose documents are still the same objects, so a change costs only what
 * changed. Flags know cohorts and each other by id only: they need not be compiled again when those change.
 */
export function compileRuleset(source: RulesetSource, previous?: Ruleset): Ruleset {
  const usable = previous && hasSameMatching(source, previous.source) ? previous : undefined;
  const matching: FlagMatching = usable?.matching ?? {
    version: source.propertyMatchingVersion,
    zone: zoneOf(source.timezone),
    isPattern: createPatternCheck(),
    shared: new Map(),
  };
  const known = compiledBefore(usable);
  const compiled = source.flags.map((flag) => known.get(flag) ?? compileFlag(flag, matching));
  const { entries, ordered } = orderFlags(compiled);
  return {
    source,
    matching,
    flags: compiled.filter(isEvaluated),
    entries,
    ordered,
    cohorts: compileCohorts(source.cohorts, matching, usable?.cohorts),
    bucketOf: previous?.bucketOf ?? createBucketMemory(),
    hasDependencies: entries.some((it) => it.compiled.dependencies.length > 0),
  };
}

type Values = Map<number | string, FlagValue>;

const noValues: Values = new Map();

const startRun = ({ cohorts, bucketOf }: Ruleset, subject: Subject, values: Values): EvaluationRun => ({
  id: {},
  subject,
  cohorts,
  bucketOf,
  values,
  members: undefined,
  recorder: undefined,
});

function evaluateApart(ruleset: Ruleset, subject: Subject, { keys, isSelected }: Selection): FlagResult[] {
  const run = startRun(ruleset, subject, noValues);
  const results: FlagResult[] = [];
  for (const compiled of ruleset.flags) {
    const { flag } = compiled;
    if ((keys && !keys.has(flag.key)) || (isSelected && !isSelected(flag))) continue;
    results.push({ compiled, decision: decide(compiled, run) });
  }
  return results;
}

function publish(values: Values, { names }: FlagEntry, decision: Decision | undefined): void {
  if (decision?.failed) return;
  for (const name of names) values.set(name, decision?.value ?? false);
}

/** An evaluation in which flags depend on each other, step by step. */
function startChain(ruleset: Ruleset, subject: Subject, isSelected: Selection["isSelected"]) {
  const values: Values = new Map();
  const run = startRun(ruleset, subject, values);
  return {
    run,
    /** undefined for a flag that is not evaluated. */
    decide(entry: FlagEntry) {
      const { compiled, fault } = entry;
      const isOn = isEvaluated(compiled) && (isSelected?.(compiled.flag) ?? true);
      const decision = isOn ? (fault ?? decide(compiled, run)) : undefined;
      publish(values, entry, decision);
      return decision;
    },
  };
}

function evaluateChained(ruleset: Ruleset, subject: Subject, { keys, isSelected }: Selection): FlagResult[] {
  const needed = keys && withDependencies(ruleset.entries, keys);
  const chain = startChain(ruleset, subject, isSelected);
  const decisions: (Decision | undefined)[] = [];
  for (const entry of ruleset.ordered) {
    if (!needed || needed.has(entry)) decisions[entry.position] = chain.decide(entry);
  }
  return ruleset.entries.flatMap(({ compiled, position }) => {
    const decision = decisions[position];
    return decision ? [{ compiled, decision }] : [];
  });
}

/**
 * What the flags of a project are for a subject, in the document's order; every flag and every cohort is
 * computed once. Never throws a FlagFailure: a flag that cannot be computed has a decision with `failed`.
 * Upstream PostHog rust/feature-flags, flag_matching.
 */
export const evaluateRuleset = (ruleset: Ruleset, subject: Subject, selection: Selection = {}): FlagResult[] =>
  ruleset.hasDependencies ? evaluateChained(ruleset, subject, selection) : evaluateApart(ruleset, subject, selection);

/** The entry of a flag, by its key; also an inactive one, but an active one first. */
export function entryOf({ entries }: Ruleset, key: string): FlagEntry | undefined {
  const same = entries.filter(({ compiled }) => compiled.flag.key === key);
  return same.find(({ compiled }) => isEvaluated(compiled)) ?? same.at(-1);
}

export interface Trial {
  /** undefined for a flag that is inactive or deleted. */
  readonly decision: Decision | undefined;
  readonly run: EvaluationRun;
}

/** Evaluates one flag and what it depends on; `recorder` receives the steps of the flag itself only. */
export function tryFlag(
  ruleset: Ruleset,
  entry: FlagEntry,
  subject: Subject,
  isSelected: Selection["isSelected"],
  recorder: EvaluationRecorder,
): Trial {
  const needed = withDependencies(ruleset.entries, new Set([entry.compiled.flag.key]));
  const chain = startChain(ruleset, subject, isSelected);
  for (const it of ruleset.ordered) if (it !== entry && needed.has(it)) chain.decide(it);
  const run: EvaluationRun = { ...chain.run, recorder };
  if (!isEvaluated(entry.compiled)) return { decision: undefined, run };
  return { decision: entry.fault ?? decide(entry.compiled, run), run };
}
