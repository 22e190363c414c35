import { clean, cleanJson, cleanLines } from "../../kernel/command/clean-text.ts";
import type { Style } from "../../kernel/command/style.ts";
import type { FlagDecision, FlagDistribution, FlagExplanation, FlagOverride, FlagSummary } from "./client.ts";
import { actualWords, hashText, hashWords, missWords, shortNumber, valueWords } from "./explain/trace-words.ts";

export const valueText = (value: boolean | string): string => cleanJson(value, 200);

export const subjectText = ({ distinct_id }: Pick<FlagOverride, "distinct_id">): string =>
  distinct_id === null ? "everybody" : clean(distinct_id);

function overrideLine(override: FlagOverride): string {
  const payload = override.payload === null ? "" : `, payload ${cleanJson(override.payload, 200)}`;
  return `overridden: ${valueText(override.value)} for ${subjectText(override)}${payload}`;
}

function factsOf({ id, active, rules, overrides }: FlagSummary, style: Style): string[] {
  const state = id === null ? ["no such flag"] : active ? [] : ["inactive"];
  return [
    ...state.map(style.dim),
    ...rules.map((rule) => clean(rule)),
    ...overrides.map((it) => style.bold(overrideLine(it))),
  ];
}

const widest = 32;

function flagLines(flag: FlagSummary, width: number, style: Style): string[] {
  const [first = "", ...more] = factsOf(flag, style);
  const name = style.bold(clean(flag.key).padEnd(width));
  return [`  ${name}  ${first}`, ...more.map((fact) => `  ${" ".repeat(width)}  ${fact}`)];
}

export function listLines(flags: readonly FlagSummary[], style: Style): string[] {
  if (flags.length === 0) return ["no flags"];
  const width = Math.min(widest, Math.max(...flags.map(({ key }) => clean(key).length)));
  const projects = [...new Set(flags.map((it) => it.project))];
  return projects.flatMap((project) => [
    ...(projects.length > 1 ? [`project ${project}`] : []),
    ...flags.filter((it) => it.project === project).flatMap((it) => flagLines(it, width, style)),
  ]);
}

const grouped = (count: number): string => count.toLocaleString("en-US");

export function simulateLines(found: FlagDistribution, style: Style): string[] {
  const names = found.values.map(({ value }) => valueText(value));
  const width = Math.max(0, ...names.map((it) => it.length));
  const countWidth = grouped(found.count).length;
  const rows = found.values.map(({ count, share }, i) => {
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24);
    const percent = `${(share * 100).toFixed(1)} %`.padStart(7);
    return `  ${names[i]?.padEnd(width)}  ${style.dim(bar)} ${percent}  ${grouped(count).padStart(countWidth)}`;
  });
  return [
    `${style.bold(clean(found.key))} for ${grouped(found.count)} generated users`,
    ...rows,
    ...(found.failed > 0 ? [`  could not be computed for ${grouped(found.failed)}`] : []),
    ...(found.override ? [`  not counted: ${overrideLine(found.override)}`] : []),
  ];
}

/** `new-checkout "test" (matched set 1), used`; with the value that an app used instead. */
function decidedText({ flags, called }: FlagDecision): string[] {
  const uses = new Map(called.map((it) => [it.key, it]));
  const decided = flags.map(({ key, value, reason }) => {
    const use = uses.get(key);
    const why = reason?.description ? ` (${clean(reason.description)})` : "";
    const used = use === undefined ? "" : use.differs ? `, the app used ${cleanJson(use.response, 200)}` : ", used";
    return `${clean(key)} ${cleanJson(value, 200)}${why}${used}`;
  });
  const others = called.filter(({ key }) => !flags.some((it) => it.key === key));
  return [
    ...decided,
    ...others.map((it) => `${clean(it.key)} not decided, the app used ${cleanJson(it.response, 200)}`),
  ];
}

export function decisionLines(decisions: readonly FlagDecision[], style: Style): string[] {
  if (decisions.length === 0) return ["no flags were requested"];
  return decisions.flatMap((it) => {
    const subject = it.distinct_id === null ? "no distinct id" : clean(it.distinct_id);
    const how = it.by === "answer" ? "" : ", evaluated by the SDK";
    const failed = it.rejected === null ? "" : `: ${clean(it.rejected)}`;
    const status = it.status === 200 ? "" : `, HTTP ${it.status}${failed}`;
    const head = `${style.dim(it.at)}  ${style.bold(subject)}  request ${it.request}${how}${status}`;
    return [head, ...decidedText(it).map((text) => `  ${text}`)];
  });
}

type Condition = FlagExplanation["conditions"][number];
type Property = Condition["properties"][number];
type Tree = NonNullable<NonNullable<Property["cohort"]>["tree"]>;

const mark = (passed: boolean, style: Style): string => (passed ? style.good("✓") : style.bad("✗"));

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

const isProperty = (tree: Tree): tree is Property => "operator" in tree;

function treeLines(tree: Tree, style: Style): string[] {
  if (isProperty(tree)) return propertyLines(tree, style);
  const what = tree.type === "AND" ? "all of" : "any of";
  return [`${mark(tree.passed, style)} ${what}`, ...indented(tree.values.flatMap((it) => treeLines(it, style)))];
}

function propertyLines(trace: Property, style: Style): string[] {
  const line = `${mark(trace.passed, style)} ${clean(trace.words)}  ${style.dim(clean(actualWords(trace)))}`;
  const tree = trace.cohort?.tree;
  return tree ? [line, ...indented(treeLines(tree, style))] : [line];
}

type Part = Pick<NonNullable<Condition["rollout"]>, "hash" | "threshold" | "percentage">;

function partLine(part: Part, hit: boolean, what: "holdout" | "rollout", style: Style): string {
  const how = part.hash ? hashWords(part.hash, part.threshold, hit, what) : "everyone";
  return `${mark(what === "rollout" ? hit : !hit, style)} ${what} ${part.percentage} %  ${style.dim(how)}`;
}

function variantLine({ variant }: Condition, style: Style): string[] {
  if (!variant) return [];
  if (variant.forced !== null) return [`→ ${style.bold(clean(variant.forced))}, which the condition set names`];
  const ranges = variant.ranges.map((it) => {
    const text = `${clean(it.variant)} ${shortNumber(it.from)}–${shortNumber(it.to)}`;
    return it.hit ? style.bold(text) : text;
  });
  const hash = variant.hash ? `  ${style.dim(`hash ${hashText(variant.hash.hash, 1)}`)}` : "";
  return [`→ ${ranges.join(", ")}${hash}`];
}

function conditionLines(condition: Condition, style: Style): string[] {
  const { rollout, rule } = condition;
  const holdout = rule?.holdout;
  const miss = missWords(condition);
  const lines = [
    ...(miss ? [`${mark(false, style)} ${clean(miss)}`] : []),
    ...condition.properties.flatMap((it) => propertyLines(it, style)),
    ...(holdout ? [partLine(holdout, holdout.held_out, "holdout", style)] : []),
    ...(rollout ? [partLine(rollout, rollout.passed, "rollout", style)] : []),
    ...variantLine(condition, style),
  ];
  const [first = `${mark(condition.matched, style)} everyone`, ...more] = lines;
  const number = String(condition.index + 1);
  const unreached = condition.reached ? "" : style.dim("  (not reached)");
  return [`  ${number} ${first}${unreached}`, ...more.map((line) => `  ${" ".repeat(number.length)} ${line}`)];
}

function overrideLines({ override, by_rules }: FlagExplanation): string[] {
  if (!override) return [];
  const rules = by_rules
    ? `; its rules give ${valueText(by_rules.value)}: ${clean(by_rules.reason.description)}`
    : "; the project has no such flag";
  return [`  overridden for ${subjectText(override)}${rules}`];
}

function enrollmentLines({ enrollment }: FlagExplanation, style: Style): string[] {
  if (!enrollment) return [];
  const what = enrollment.decided ? "enrolment decides" : "enrolment does not decide";
  return [`  ${what}`, ...indented(indented(enrollment.properties.flatMap((it) => propertyLines(it, style))))];
}

function holdoutLines({ holdout }: FlagExplanation): string[] {
  if (!holdout) return [];
  const { hash, threshold, held_out, variant, percentage } = holdout;
  const how = hash ? `: ${hashWords(hash, threshold, held_out, "holdout")}` : "";
  return [`  ${held_out ? "held out as" : "not held out as"} ${clean(variant)}, ${percentage} %${how}`];
}

function hintLines({ hint, override }: FlagExplanation): string[] {
  if (hint === null || hint === "") return [];
  const lines = cleanLines(hint);
  return [override ? "  why not by its rules:" : "  why not:", ...lines.map((line) => `    ${line}`)];
}

function headLine(explained: FlagExplanation, style: Style): string {
  const payload = explained.payload === null || explained.rule ? "" : `, payload ${clean(explained.payload, 200)}`;
  const { rule } = explained;
  const value = style.bold(rule ? clean(valueWords(rule.value)) : valueText(explained.value));
  return `${style.bold(clean(explained.key))} is ${value} for ${clean(explained.distinct_id)}${payload}: ${clean((rule ?? explained.reason).description)}`;
}

export function explainLines(explained: FlagExplanation, style: Style): string[] {
  return [
    headLine(explained, style),
    ...overrideLines(explained),
    ...enrollmentLines(explained, style),
    ...holdoutLines(explained),
    ...explained.conditions.flatMap((it) => conditionLines(it, style)),
    ...hintLines(explained),
  ];
}
