import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { itemsPerStep } from "../../kernel/base/work.ts";
import { mayCompute, otherId } from "./flag-rules.ts";
import type { LintEvent, Remarks, Rule, RuleContext, VariantShare } from "./rule.ts";

/** Persons remembered per project, and of each its flags and ids. */
const mostPersons = 10_000;
const mostFlags = 100;
const mostIds = 20;

/** What is known of a person: its exposures by flag, in order. */
interface Person {
  readonly ids: Set<string>;
  readonly exposures: Map<string, Set<string>>;
  /** Subjects of findings that an exposure withdraws, by flag. */
  readonly unexposed: Map<string, string[]>;
  /** Events of metrics before the exposure, by flag: the first one of each name. */
  readonly early: Map<string, Map<string, number>>;
}

const subjectOf = (flag: string, id: string): string => JSON.stringify([flag, id]);

function exposureIn({ event, properties }: LintEvent): [flag: string, value: string] | undefined {
  const { $feature_flag: flag, $feature_flag_response: value } = properties;
  if (event !== "$feature_flag_called" || typeof flag !== "string") return undefined;
  return [flag, typeof value === "string" ? value : stringOf(value)];
}

/** Variants are texts; `true` and `false` change when a flag is switched. */
const isVariant = (value: string): boolean => value !== "true" && value !== "false" && value !== "undefined";

const feature = "$feature/";

/** True if the SDK attached every flag, read or not: with them it names the active ones. */
const hasEveryFlag = ({ properties: { $active_feature_flags: active } }: LintEvent): boolean => Array.isArray(active);

/** Flags whose value the app itself put into the event. SDKs of browsers and phones attach every flag. */
const statedFlags = (it: LintEvent): string[] =>
  it.event.startsWith("$") || typeof it.properties.$lib !== "string" || !mayCompute(it) || hasEveryFlag(it)
    ? []
    : Object.entries(it.properties).flatMap(([name, value]) =>
        name.startsWith(feature) && value !== false && value !== null ? [name.slice(feature.length)] : [],
      );

/** Probability 0.001 of the normal distribution. */
const z = 3.0902;

/** The value that chi-square exceeds with p = 0.001 (Wilson and Hilferty; at most 3 % too large). */
const criticalOf = (degrees: number): number =>
  degrees * (1 - 2 / (9 * degrees) + z * Math.sqrt(2 / (9 * degrees))) ** 3;

/** Persons of a flag before its shares are checked, and the least that each variant must be expected to have. */
const leastPersons = 100;
const leastExpected = 5;

/** How the persons differ from the shares; undefined: as expected, or too few to tell. */
function mismatchIn(counts: ReadonlyMap<string, number>, shares: readonly VariantShare[]): string | undefined {
  const known = shares.filter(({ percentage }) => percentage > 0);
  const whole = known.reduce((sum, it) => sum + it.percentage, 0);
  const total = known.reduce((sum, { variant }) => sum + (counts.get(variant) ?? 0), 0);
  if (known.length < 2 || total < leastPersons) return undefined;
  const rows = known.map(({ variant, percentage }) => ({
    variant,
    seen: counts.get(variant) ?? 0,
    expected: (total * percentage) / whole,
  }));
  if (rows.some(({ expected }) => expected < leastExpected)) return undefined;
  const chi = rows.reduce((sum, { seen, expected }) => sum + (seen - expected) ** 2 / expected, 0);
  if (chi <= criticalOf(rows.length - 1)) return undefined;
  const text = rows.map(({ variant, seen, expected }) => `${variant} ${seen} (expected ${Math.round(expected)})`);
  return `${text.join(", ")} of ${total} persons; p < 0.001`;
}

/** Flags whose persons are counted. */
const mostCounted = 200;

/**
 * `two_variants_one_person`, `flag_value_without_exposure`, `metric_before_exposure`, `sample_ratio_mismatch`: what makes the
 * figures of an experiment wrong. An exposure is a `$feature_flag_called`. Exposures that were not examined make all but
 * the first silent.
 */
export function exposures({ project, port, isWhole }: RuleContext): Rule {
  const persons = new RecentMap<string, Person>(mostPersons);
  const counted = new RecentMap<string, Map<string, number>>(mostCounted);
  const mismatched = new Set<string>();

  const personOf = (id: string): Person =>
    getOrMake(persons, id, () => ({
      ids: new Set([id]),
      exposures: new Map(),
      unexposed: new Map(),
      early: new Map(),
    }));

  function reportTwoVariants({ exposures }: Person, flag: string, it: LintEvent, { report }: Remarks): void {
    const values = [...(exposures.get(flag) ?? [])];
    if (values.length < 2) return;
    const detail = `${flag}: ${values.join(", then ")}, for ${it.distinct_id}`;
    const subject = subjectOf(flag, values.join());
    report({ code: "two_variants_one_person", event: it.event, subject, detail, seq: it.seq });
  }

  /** The variants of a flag that the person had; undefined: it has too many flags. */
  const variantsOf = ({ exposures }: Person, flag: string): Set<string> | undefined =>
    exposures.size < mostFlags ? getOrMake(exposures, flag, () => new Set<string>()) : exposures.get(flag);

  /** Two ids become one person. */
  function join(it: LintEvent, remarks: Remarks): void {
    const id = otherId(it);
    if (id === undefined || id === it.distinct_id) return;
    // the earlier exposures come first
    const [one, other] = [personOf(id), personOf(it.distinct_id)];
    if (one === other) return;
    for (const id of other.ids) if (one.ids.size < mostIds) one.ids.add(id);
    for (const [flag, values] of other.exposures) {
      const known = variantsOf(one, flag);
      for (const value of values) known?.add(value);
    }
    for (const [flag, subjects] of other.unexposed)
      one.unexposed.set(flag, [...(one.unexposed.get(flag) ?? []), ...subjects]);
    for (const [flag, events] of other.early) for (const [name, seq] of events) noteEarly(one, flag, name, seq);
    for (const id of one.ids) persons.set(id, one);
    for (const flag of one.exposures.keys()) {
      reportTwoVariants(one, flag, it, remarks);
      withdrawUnexposed(one, flag, remarks);
    }
  }

  function noteEarly({ early }: Person, flag: string, name: string, seq: number): void {
    if (early.size >= mostFlags && !early.has(flag)) return;
    const events = getOrMake(early, flag, () => new Map<string, number>());
    if (events.size < mostIds && !events.has(name)) events.set(name, seq);
  }

  /** Events of metrics whose person was not exposed yet: an exposure may follow. */
  function noteMetric(it: LintEvent): void {
    for (const flag of port.flagsMeasuredBy(project, it.event)) {
      const person = personOf(it.distinct_id);
      if (!person.exposures.has(flag)) noteEarly(person, flag, it.event, it.seq);
    }
  }

  function reportEarly({ early }: Person, flag: string, it: LintEvent, { report }: Remarks): void {
    for (const [event, seq] of early.get(flag) ?? []) {
      const detail = `${event} of ${it.distinct_id} came before its first $feature_flag_called of ${flag}`;
      report({ code: "metric_before_exposure", event, subject: flag, detail, seq });
    }
    early.delete(flag);
  }

  function withdrawUnexposed({ unexposed }: Person, flag: string, { withdraw }: Remarks): void {
    for (const subject of unexposed.get(flag) ?? []) withdraw("flag_value_without_exposure", subject);
    unexposed.delete(flag);
  }

  function count(flag: string, value: string, it: LintEvent, { report, withdraw }: Remarks): void {
    const counts = getOrMake(counted, flag, () => new Map<string, number>());
    if (!counts.has(value) && counts.size >= mostFlags) return;
    counts.set(value, (counts.get(value) ?? 0) + 1);
    const shares = isWhole() ? port.variantShares(project, flag) : undefined;
    const mismatch = shares && mismatchIn(counts, shares);
    if (mismatched.delete(flag)) withdraw("sample_ratio_mismatch", flag);
    if (mismatch === undefined) return;
    mismatched.add(flag);
    const detail = `${flag}: ${mismatch}`;
    report({ code: "sample_ratio_mismatch", event: it.event, subject: flag, detail, seq: it.seq });
  }

  function expose(flag: string, value: string, it: LintEvent, remarks: Remarks): void {
    const person = personOf(it.distinct_id);
    const variants = variantsOf(person, flag);
    withdrawUnexposed(person, flag, remarks);
    reportEarly(person, flag, it, remarks);
    if (variants === undefined || !isVariant(value) || variants.has(value)) return;
    variants.add(value);
    if (variants.size === 1) count(flag, value, it, remarks);
    else reportTwoVariants(person, flag, it, remarks);
  }

  function reportUnexposed(it: LintEvent, { report }: Remarks): void {
    const stated = statedFlags(it);
    if (stated.length === 0) return;
    const { exposures, unexposed } = personOf(it.distinct_id);
    for (const flag of stated) {
      if (exposures.has(flag)) continue;
      const subject = subjectOf(flag, it.distinct_id);
      const subjects = unexposed.get(flag) ?? [];
      if (!subjects.includes(subject) && unexposed.size < mostFlags)
        unexposed.set(flag, [...subjects, subject].slice(-mostIds));
      const detail = `properties.${feature}${flag} is set, and ${it.distinct_id} has no $feature_flag_called of it`;
      report({ code: "flag_value_without_exposure", event: it.event, subject, detail, seq: it.seq });
    }
  }

  return {
    *examine({ events }, remarks) {
      for (const [i, it] of events.entries()) {
        if (i % itemsPerStep === 0) yield;

        if (it.dropped !== undefined) continue;
        join(it, remarks);
        const exposure = exposureIn(it);
        if (exposure) expose(...exposure, it, remarks);
        else if (isWhole()) {
          reportUnexposed(it, remarks);
          noteMetric(it);
        }
      }
    },
  };
}
