import type { FlagExplanation } from "../index.ts";
import { clean, cleanLines } from "./clean-text.ts";
import { forWhom, jsonText, valueText } from "./flags-lines.ts";
import type { Style } from "./style.ts";

type Condition = FlagExplanation["conditions"][number];
type Property = Condition["properties"][number];
type Tree = NonNullable<NonNullable<Property["cohort"]>["tree"]>;
type Hash = NonNullable<NonNullable<Condition["rollout"]>["hash"]>;

const mark = (passed: boolean, style: Style): string => (passed ? style.good("✓") : style.bad("✗"));

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

const hashText = ({ hash }: Hash): string => hash.toFixed(4);

/** Where a hash is: `hash 0.3127 ≤ 0.5`. */
const compared = (hash: Hash, threshold: number, isWithin: boolean): string =>
  `hash ${hashText(hash)} ${isWithin ? "≤" : ">"} ${Number(threshold.toFixed(6))}`;

const valueless = ["is_set", "is_not_set"];

function wanted({ type, key, operator, expected, negation, cohort, flag }: Property): string {
  const not = negation ? "not: " : "";
  if (type === "cohort") {
    const name = cohort?.name ? ` (${clean(cohort.name)})` : "";
    return `${not}${clean(operator)} cohort ${jsonText(expected)}${name}`;
  }
  const what = type === "person" ? "" : `${clean(type)} `;
  const value = valueless.includes(operator) ? "" : ` ${jsonText(expected)}`;
  return `${not}${what}${clean(flag?.key ?? key)} ${clean(operator)}${value}`;
}

function found(trace: Property): string {
  if (trace.failure) return `cannot be computed: ${clean(trace.failure)}`;
  if (trace.flag) return trace.flag.value === null ? "has no value" : `is ${jsonText(trace.flag.value)}`;
  if (trace.type === "cohort") return trace.cohort?.member ? "is a member" : "is no member";
  return Object.hasOwn(trace, "actual") ? `is ${jsonText(trace.actual)}` : "is missing";
}

const isProperty = (tree: Tree): tree is Property => "operator" in tree;

function treeLines(tree: Tree, style: Style): string[] {
  if (isProperty(tree)) return propertyLines(tree, style);
  const what = tree.type === "AND" ? "all of" : "any of";
  return [
    `${mark(tree.passed, style)} ${what}`,
    ...indented(tree.values.flatMap((it) => treeLines(it, style))),
  ];
}

function propertyLines(trace: Property, style: Style): string[] {
  const line = `${mark(trace.passed, style)} ${wanted(trace)}  ${style.dim(found(trace))}`;
  const tree = trace.cohort?.tree;
  return tree ? [line, ...indented(treeLines(tree, style))] : [line];
}

const missing: Readonly<Record<string, (condition: Condition) => string>> = {
  no_group_type: ({ group_type, group_type_index }) =>
    `no group of type ${clean(group_type ?? String(group_type_index))} is given`,
  no_device: () => "no device id is given",
};

function rolloutLine({ rollout }: Condition, style: Style): string[] {
  if (!rollout) return [];
  const { hash, threshold, passed, percentage } = rollout;
  const how = hash ? compared(hash, threshold, passed) : "everybody";
  return [`${mark(passed, style)} rollout ${percentage} %  ${style.dim(how)}`];
}

function variantLine({ variant }: Condition, style: Style): string[] {
  if (!variant) return [];
  if (variant.forced !== null) return [`→ ${style.bold(clean(variant.forced))}, which the condition names`];
  const ranges = variant.ranges.map((it) => {
    const text = `${clean(it.variant)} ${Number(it.from.toFixed(4))}–${Number(it.to.toFixed(4))}`;
    return it.hit ? style.bold(text) : text;
  });
  const hash = variant.hash ? `  ${style.dim(`hash ${hashText(variant.hash)}`)}` : "";
  return [`→ ${ranges.join(", ")}${hash}`];
}

/** A condition set, its number in front of its first line. */
function conditionLines(condition: Condition, style: Style): string[] {
  const miss = condition.miss === null ? undefined : missing[condition.miss];
  const lines = [
    ...(miss ? [`${mark(false, style)} ${miss(condition)}`] : []),
    ...condition.properties.flatMap((it) => propertyLines(it, style)),
    ...rolloutLine(condition, style),
    ...variantLine(condition, style),
  ];
  const [first = `${mark(condition.matched, style)} everybody`, ...more] = lines;
  const number = String(condition.index + 1);
  const unreached = condition.reached ? "" : style.dim("  (not reached)");
  return [
    `  ${number} ${first}${unreached}`,
    ...more.map((line) => `  ${" ".repeat(number.length)} ${line}`),
  ];
}

function overrideLines({ override, by_rules }: FlagExplanation): string[] {
  if (!override) return [];
  const rules = by_rules
    ? `; its rules say ${valueText(by_rules.value)}: ${clean(by_rules.reason.description)}`
    : "; the project has no such flag";
  return [`  overridden for ${forWhom(override)}${rules}`];
}

function enrollmentLines({ enrollment }: FlagExplanation, style: Style): string[] {
  if (!enrollment) return [];
  const what = enrollment.decided ? "enrolment decides" : "enrolment does not decide";
  return [
    `  ${what}`,
    ...indented(indented(enrollment.properties.flatMap((it) => propertyLines(it, style)))),
  ];
}

function holdoutLines({ holdout }: FlagExplanation): string[] {
  if (!holdout) return [];
  const { hash, threshold, held_out, variant, percentage } = holdout;
  const how = hash ? `: ${compared(hash, threshold, held_out)}` : "";
  return [`  ${held_out ? "held out as" : "not held out as"} ${clean(variant)}, ${percentage} %${how}`];
}

function hintLines({ hint, override }: FlagExplanation): string[] {
  if (hint === null || hint === "") return [];
  const lines = cleanLines(hint);
  return [override ? "  why not by its rules:" : "  why not:", ...lines.map((line) => `    ${line}`)];
}

function headLine(told: FlagExplanation, style: Style): string {
  const payload = told.payload === null ? "" : `, payload ${clean(told.payload, 200)}`;
  const value = style.bold(valueText(told.value));
  return `${style.bold(clean(told.key))} is ${value} for ${clean(told.distinct_id)}${payload}: ${clean(told.reason.description)}`;
}

/** Why somebody gets a flag's value: the value, then what was looked at, then what would have had to differ. */
export function explainLines(told: FlagExplanation, style: Style): string[] {
  return [
    headLine(told, style),
    ...overrideLines(told),
    ...enrollmentLines(told, style),
    ...holdoutLines(told),
    ...told.conditions.flatMap((it) => conditionLines(it, style)),
    ...hintLines(told),
  ];
}
