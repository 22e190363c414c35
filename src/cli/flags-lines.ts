import type { FlagDecision, FlagDistribution, FlagOverride, FlagSummary } from "../index.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** Any JSON value as people read it, on one line: as JSON, cut where it is long. */
export const jsonText = (value: unknown): string => clean(JSON.stringify(value) ?? "", 200);

/** A flag's value: true, false, or a variant in quotes. */
export const valueText = (value: boolean | string): string => jsonText(value);

/** Whom an override is for. */
export const forWhom = ({ distinct_id }: Pick<FlagOverride, "distinct_id">): string =>
  distinct_id === null ? "everybody" : clean(distinct_id);

function overrideLine(override: FlagOverride): string {
  const payload = override.payload === null ? "" : `, payload ${jsonText(override.payload)}`;
  return `overridden: ${valueText(override.value)} for ${forWhom(override)}${payload}`;
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

/** A key's column, then its facts below each other. */
function flagLines(flag: FlagSummary, width: number, style: Style): string[] {
  const [first = "", ...more] = factsOf(flag, style);
  const name = style.bold(clean(flag.key).padEnd(width));
  return [`  ${name}  ${first}`, ...more.map((fact) => `  ${" ".repeat(width)}  ${fact}`)];
}

/** The flags, by project where there are several. */
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

/** Who gets what, with a bar each. */
export function simulateLines(told: FlagDistribution, style: Style): string[] {
  const names = told.values.map(({ value }) => valueText(value));
  const width = Math.max(0, ...names.map((it) => it.length));
  const countWidth = grouped(told.count).length;
  const rows = told.values.map(({ count, share }, i) => {
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24);
    const percent = `${(share * 100).toFixed(1)} %`.padStart(7);
    return `  ${names[i]?.padEnd(width)}  ${style.dim(bar)} ${percent}  ${grouped(count).padStart(countWidth)}`;
  });
  return [
    `${style.bold(clean(told.key))} for ${grouped(told.count)} generated users`,
    ...rows,
    ...(told.failed > 0 ? [`  could not be computed for ${grouped(told.failed)}`] : []),
    ...(told.override ? [`  not counted: ${overrideLine(told.override)}`] : []),
  ];
}

/** `new-checkout "test" (matched set 1), used`; what an app used instead is named. */
function decidedText({ flags, called }: FlagDecision): string[] {
  const uses = new Map(called.map((it) => [it.key, it]));
  const decided = flags.map(({ key, value, reason }) => {
    const use = uses.get(key);
    const why = reason?.description ? ` (${clean(reason.description)})` : "";
    const used = use === undefined ? "" : use.differs ? `, the app used ${jsonText(use.response)}` : ", used";
    return `${clean(key)} ${jsonText(value)}${why}${used}`;
  });
  const others = called.filter(({ key }) => !flags.some((it) => it.key === key));
  return [
    ...decided,
    ...others.map((it) => `${clean(it.key)} not decided, the app used ${jsonText(it.response)}`),
  ];
}

/** Who was given what: a line for the request, then one for each flag. */
export function decisionLines(decisions: readonly FlagDecision[], style: Style): string[] {
  if (decisions.length === 0) return ["no flags were asked for"];
  return decisions.flatMap((it) => {
    const whom = it.distinct_id === null ? "no distinct id" : clean(it.distinct_id);
    const how = it.by === "answer" ? "" : ", evaluated by the SDK";
    const failed = it.rejected === null ? "" : `: ${clean(it.rejected)}`;
    const status = it.status === 200 ? "" : `, HTTP ${it.status}${failed}`;
    const head = `${style.dim(it.at)}  ${style.bold(whom)}  request ${it.request}${how}${status}`;
    return [head, ...decidedText(it).map((text) => `  ${text}`)];
  });
}
