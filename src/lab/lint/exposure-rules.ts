import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { featurePrefix, mayCompute, otherId, personSubject } from "./flag-rules.ts";
import type { LintEvent } from "./request.ts";
import type { LintPort, Remarks, Rule, RuleContext } from "./rule.ts";

/** Persons remembered per project, and of each its flags and ids. */
const mostPersons = 10_000;
const mostFlags = 100;
const mostIds = 20;

interface Person {
  readonly ids: Set<string>;
  /** Variants by flag, in order. */
  readonly exposures: Map<string, Set<string>>;
  /** Subjects of findings that an exposure withdraws, by flag. */
  readonly unexposed: Map<string, string[]>;
  /** Events of metrics before the exposure, by flag: the first one of each name. */
  readonly early: Map<string, Map<string, number>>;
}

function exposureIn({ event, properties }: LintEvent): [flag: string, value: string] | undefined {
  const { $feature_flag: flag, $feature_flag_response: value } = properties;
  if (event !== "$feature_flag_called" || typeof flag !== "string") return undefined;
  return [flag, typeof value === "string" ? value : stringOf(value)];
}

/** Variants are texts; `true` and `false` change when a flag is switched. */
const isVariant = (value: string): boolean => value !== "true" && value !== "false" && value !== "undefined";

/** True if the SDK attached every flag, read or not: with them it names the active ones. */
const hasEveryFlag = ({ properties: { $active_feature_flags: active } }: LintEvent): boolean => Array.isArray(active);

/** Flags whose value the app itself put into the event. SDKs of browsers and phones attach every flag. */
const statedFlags = (it: LintEvent): string[] =>
  it.event.startsWith("$") || typeof it.properties.$lib !== "string" || !mayCompute(it) || hasEveryFlag(it)
    ? []
    : Object.entries(it.properties).flatMap(([name, value]) =>
        name.startsWith(featurePrefix) && value !== false && value !== null ? [name.slice(featurePrefix.length)] : [],
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
function mismatchIn(
  counts: ReadonlyMap<string, number>,
  shares: NonNullable<ReturnType<LintPort["variantShares"]>>,
): string | undefined {
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

const mostCounted = 200;

function noteEarly({ early }: Person, flag: string, name: string, seq: number): void {
  if (early.size >= mostFlags && !early.has(flag)) return;
  const events = getOrMake(early, flag, () => new Map<string, number>());
  if (events.size < mostIds && !events.has(name)) events.set(name, seq);
}

function reportEarly({ early }: Person, flag: string, it: LintEvent, { report }: Remarks): void {
  for (const [event, seq] of early.get(flag) ?? []) {
    const detail = `${event} of ${it.distinct_id} came before its first $feature_flag_called of ${flag}`;
    report("metric_before_exposure", { event, seq }, detail, flag);
  }
  early.delete(flag);
}

function reportTwoVariants({ exposures }: Person, flag: string, it: LintEvent, { report }: Remarks): void {
  const values = [...(exposures.get(flag) ?? [])];
  if (values.length < 2) return;
  const detail = `${flag}: ${values.join(", then ")}, for ${it.distinct_id}`;
  report("two_variants_one_person", it, detail, personSubject(flag, values.join()));
}

function withdrawUnexposed({ unexposed }: Person, flag: string, { withdraw }: Remarks): void {
  for (const subject of unexposed.get(flag) ?? []) withdraw("flag_value_without_exposure", subject);
  unexposed.delete(flag);
}

/** The variants of a flag that the person had; undefined: it has too many flags. */
const variantsOf = ({ exposures }: Person, flag: string): Set<string> | undefined =>
  exposures.size < mostFlags ? getOrMake(exposures, flag, () => new Set<string>()) : exposures.get(flag);

/**
 * `two_variants_one_person`, `flag_value_without_exposure`, `metric_before_exposure`, `sample_ratio_mismatch`: what makes the
 * figures of an experiment wrong. An exposure is a `$feature_flag_called`. Exposures that were not examined make all but
 * the first silent.
 */
export class ExposureRule implements Rule {
  readonly #context: RuleContext;
  readonly #persons = new RecentMap<string, Person>(mostPersons);
  readonly #counts = new RecentMap<string, Map<string, number>>(mostCounted);
  readonly #mismatched = new Set<string>();

  constructor(context: RuleContext) {
    this.#context = context;
  }

  onKept(it: LintEvent, remarks: Remarks): void {
    this.#join(it, remarks);
    const exposure = exposureIn(it);
    if (exposure) this.#expose(...exposure, it, remarks);
    else if (this.#context.isWhole()) {
      this.#reportUnexposed(it, remarks);
      this.#noteMetric(it);
    }
  }

  #personOf(id: string): Person {
    return getOrMake(this.#persons, id, () => ({
      ids: new Set([id]),
      exposures: new Map(),
      unexposed: new Map(),
      early: new Map(),
    }));
  }

  #join(it: LintEvent, remarks: Remarks): void {
    const id = otherId(it);
    if (id === undefined || id === it.distinct_id) return;
    // the earlier exposures come first
    const [one, other] = [this.#personOf(id), this.#personOf(it.distinct_id)];
    if (one === other) return;
    for (const id of other.ids) if (one.ids.size < mostIds) one.ids.add(id);
    for (const [flag, values] of other.exposures) {
      const known = variantsOf(one, flag);
      for (const value of values) known?.add(value);
    }
    for (const [flag, subjects] of other.unexposed)
      one.unexposed.set(flag, [...(one.unexposed.get(flag) ?? []), ...subjects]);
    for (const [flag, events] of other.early) for (const [name, seq] of events) noteEarly(one, flag, name, seq);
    for (const id of one.ids) this.#persons.set(id, one);
    for (const flag of one.exposures.keys()) {
      reportTwoVariants(one, flag, it, remarks);
      withdrawUnexposed(one, flag, remarks);
    }
  }

  #expose(flag: string, value: string, it: LintEvent, remarks: Remarks): void {
    const person = this.#personOf(it.distinct_id);
    const variants = variantsOf(person, flag);
    withdrawUnexposed(person, flag, remarks);
    reportEarly(person, flag, it, remarks);
    if (variants === undefined || !isVariant(value) || variants.has(value)) return;
    variants.add(value);
    if (variants.size === 1) this.#count(flag, value, it, remarks);
    else reportTwoVariants(person, flag, it, remarks);
  }

  #count(flag: string, value: string, it: LintEvent, { report, withdraw }: Remarks): void {
    const { project, port, isWhole } = this.#context;
    const counts = getOrMake(this.#counts, flag, () => new Map<string, number>());
    if (!counts.has(value) && counts.size >= mostFlags) return;
    counts.set(value, (counts.get(value) ?? 0) + 1);
    const shares = isWhole() ? port.variantShares(project, flag) : undefined;
    const mismatch = shares && mismatchIn(counts, shares);
    if (this.#mismatched.delete(flag)) withdraw("sample_ratio_mismatch", flag);
    if (mismatch === undefined) return;
    this.#mismatched.add(flag);
    report("sample_ratio_mismatch", it, `${flag}: ${mismatch}`, flag);
  }

  #reportUnexposed(it: LintEvent, { report }: Remarks): void {
    const stated = statedFlags(it);
    if (stated.length === 0) return;
    const { exposures, unexposed } = this.#personOf(it.distinct_id);
    for (const flag of stated) {
      if (exposures.has(flag)) continue;
      const subject = personSubject(flag, it.distinct_id);
      const subjects = unexposed.get(flag) ?? [];
      if (!subjects.includes(subject) && unexposed.size < mostFlags)
        unexposed.set(flag, [...subjects, subject].slice(-mostIds));
      const detail = `properties.${featurePrefix}${flag} is set, and ${it.distinct_id} has no $feature_flag_called of it`;
      report("flag_value_without_exposure", it, detail, subject);
    }
  }

  /** Events of metrics whose person was not exposed yet: an exposure may follow. */
  #noteMetric(it: LintEvent): void {
    const { project, port } = this.#context;
    for (const flag of port.flagsMeasuredBy(project, it.event)) {
      const person = this.#personOf(it.distinct_id);
      if (!person.exposures.has(flag)) noteEarly(person, flag, it.event, it.seq);
    }
  }
}
