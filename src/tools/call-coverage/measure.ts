import { compareText, counted } from "../../kernel/base/text.ts";
import type { FlagTotal } from "../../service/flags/decision-shapes.ts";
import { firstOf, noTests } from "../../testing/run-report/run-report.ts";
import type { VerdictSection } from "../../testing/run-report/shapes.ts";
import { callNames } from "./calls.ts";
import type { CallCoverage } from "./shapes.ts";
import type { FoundSite, SourceFindings } from "./source-files.ts";

/** How often a value of a flag was used, and served. */
type FlagValueCounts = Map<string, { called: number; served: number }>;

export interface Fired {
  /** Kept events by name. */
  readonly events: Map<string, number>;
  readonly flags: Map<string, FlagValueCounts>;
}

interface FiredEvent {
  readonly event: string;
  readonly outcome?: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "boolean" || typeof value === "string" ? String(value) : undefined;

function addValue(fired: Fired, key: string, value: string, called: number, served: number): void {
  const values: FlagValueCounts = fired.flags.get(key) ?? new Map();
  const known = values.get(value) ?? { called: 0, served: 0 };
  values.set(value, { called: known.called + called, served: known.served + served });
  fired.flags.set(key, values);
}

/** Counts kept events, the flags that were used as `$feature_flag_called` reports, and those that were served. */
export async function firedIn(
  events: AsyncIterable<FiredEvent>,
  totals: readonly {
    readonly key: string;
    readonly values: readonly Pick<FlagTotal["values"][number], "value" | "served">[];
  }[] = [],
): Promise<Fired> {
  const fired: Fired = { events: new Map(), flags: new Map() };
  for await (const { event, outcome, properties } of events) {
    if (outcome === "dropped") continue;
    fired.events.set(event, (fired.events.get(event) ?? 0) + 1);
    const { $feature_flag: key, $feature_flag_response: response } = properties;
    const value = textOf(response);
    if (event === "$feature_flag_called" && typeof key === "string" && value !== undefined)
      addValue(fired, key, value, 1, 0);
  }
  for (const { key, values } of totals) {
    for (const { value, served } of values) {
      const text = textOf(value);
      if (text !== undefined && served > 0) addValue(fired, key, text, 0, served);
    }
  }
  return fired;
}

type Site = CallCoverage["sites"][number];

const sumOf = (values: FlagValueCounts | undefined, by: "called" | "served"): number =>
  [...(values?.values() ?? [])].reduce((sum, it) => sum + it[by], 0);

function coveredSite({ isPayload, ...site }: FoundSite, { events, flags }: Fired): Site {
  if (site.name === null) return { ...site, state: "computed", count: 0 };
  if (site.kind !== "flag") {
    const count = events.get(site.name) ?? 0;
    return { ...site, state: count > 0 ? "fired" : "never", count };
  }
  const values = flags.get(site.name);
  const [called, served] = [sumOf(values, "called"), sumOf(values, "served")];
  const count = called === 0 && isPayload ? served : called;
  return { ...site, state: count > 0 ? "fired" : served > 0 ? "served" : "never", count };
}

/** Events of SDKs that no app captures by name. */
const sdkEvent = /^(\$|survey (shown|sent|dismissed)$)/;

function flagsOf(sites: readonly Site[], { flags }: Fired): CallCoverage["flags"]["keys"] {
  const keys = [...new Set(sites.flatMap(({ kind, name }) => (kind === "flag" && name !== null ? [name] : [])))];
  return keys.sort(compareText).map((key) => {
    const isRead = sites.some((it) => it.kind === "flag" && it.name === key && it.state === "fired");
    return { key, read: isRead, values: isRead ? [...(flags.get(key)?.keys() ?? [])].sort(compareText) : [] };
  });
}

/** Joins the call sites with what fired. A site counts as fired if an event of its name was kept, wherever it came from. */
export function measureCallCoverage(found: SourceFindings, fired: Fired): CallCoverage {
  const sites = found.sites.map((it) => coveredSite(it, fired));
  const named = sites.filter(({ state }) => state !== "computed");
  const covered = named.filter(({ state }) => state === "fired").length;
  const countsOf = (kind: Site["kind"]) => {
    const own = sites.filter((it) => it.kind === kind);
    const computed = own.filter(({ state }) => state === "computed").length;
    return { calls: own.length - computed, fired: own.filter((it) => it.state === "fired").length, computed };
  };
  const names = new Set(sites.filter(({ kind }) => kind === "event").map(({ name }) => name));
  const keys = flagsOf(sites, fired);
  return {
    schema_version: 1,
    percent: named.length === 0 ? 100 : Math.floor((covered / named.length) * 100),
    covered,
    total: named.length,
    events: countsOf("event"),
    identity: countsOf("identity"),
    exceptions: countsOf("exception"),
    flags: {
      ...countsOf("flag"),
      read: keys.filter(({ read }) => read).length,
      both: keys.filter(({ values }) => values.length > 1).length,
      keys,
    },
    sites,
    without_site: [...fired.events]
      .filter(([event]) => !names.has(event) && !sdkEvent.test(event))
      .map(([event, count]) => ({ event, count })),
    problems: [...found.problems],
    files: found.files,
  };
}

const placeOf = ({ file, line }: Pick<Site, "file" | "line">): string => `${file}:${line}`;

const uncovered = ({ sites }: CallCoverage): Site[] =>
  sites.filter(({ state }) => state === "never" || state === "served");

/** What a site did not do. */
function sentenceOf({ kind, state }: Site): string {
  if (state === "served") return "responses had the flag, and no $feature_flag_called reported that the app used it";
  return kind === "flag" ? "the app never read this flag" : "no event of this name was kept";
}

const mostNamed = 10;

const problemLine = ({ file, line, column, message }: CallCoverage["problems"][number]): string =>
  `${file}:${line}:${column} ${message}`;

/** `27 capture calls, 18 fired; never: refund_failed src/pay.ts:88; flags read 11, both values exercised 4`. */
export function callCoverageSummary(result: CallCoverage): string {
  const { events, identity, exceptions, flags, total, percent, sites, problems } = result;
  const unread = problems.slice(0, mostNamed).map(problemLine);
  if (sites.length === 0)
    return [
      `no call sites in ${counted(result.files, "file")}; names that are looked for: ${callNames.join(", ")}`,
      ...unread,
    ].join("; ");
  const never = sites.filter(({ kind, state }) => kind === "event" && state === "never");
  const shown = never.slice(0, mostNamed).map((it) => `${it.name} ${placeOf(it)}`);
  const more = never.length - shown.length;
  const computed = events.computed + flags.computed;
  const others = { "identity call": identity, "exception call": exceptions };
  return [
    `${percent} % of ${counted(total, "call")}: ${counted(events.calls, "capture call")}, ${events.fired} fired`,
    ...(never.length > 0 ? [`never: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`] : []),
    ...(flags.keys.length > 0
      ? [`flags read ${flags.read} of ${flags.keys.length}, both values exercised ${flags.both}`]
      : []),
    ...Object.entries(others).flatMap(([noun, { calls, fired }]) =>
      calls > 0 ? [`${counted(calls, noun)}, ${fired} fired`] : [],
    ),
    ...(computed > 0 ? [`${counted(computed, "call")} with a computed name`] : []),
    ...(problems.length > 0 ? [`${counted(problems.length, "place")} not read: ${unread[0]}`] : []),
  ].join("; ");
}

const nameText = ({ kind, name, method }: Site): string =>
  kind === "flag" ? `flag ${name}` : kind === "event" ? String(name) : `${method}()`;

/** Everything that is missing, a line each. */
export function callCoverageLines(result: CallCoverage): string[] {
  const { sites, flags, without_site, problems } = result;
  const single = flags.keys.filter(({ values }) => values.length === 1);
  return [
    ...uncovered(result).map((it) => `${it.state} ${nameText(it)} ${placeOf(it)}`),
    ...single.map(({ key, values }) => `only ${values[0]} of flag ${key}`),
    ...without_site.map(({ event, count }) => `no call site: ${event} ×${count}`),
    ...sites.filter(({ state }) => state === "computed").map((it) => `computed ${it.method}() ${placeOf(it)}`),
    ...problems.map(problemLine),
  ];
}

/** Call sites that the verdict lists. */
const mostItems = 100;

/** The result as a part of a verdict. @param min Below this percentage it fails the run */
export function callCoverageSection(result: CallCoverage, min: number | undefined): VerdictSection {
  const missing = uncovered(result);
  const isLow = min !== undefined && (result.percent < min || result.sites.length === 0);
  const items = missing.map((it) => ({
    code: it.state === "served" ? "flag_not_reported" : it.kind === "flag" ? "flag_never_read" : "never_fired",
    what: `${nameText(it)} ${placeOf(it)}`,
    sentence: sentenceOf(it),
    fix: "add a test that reaches this line, or remove the call",
    count: 1,
    tests: noTests,
  }));
  return {
    name: "coverage",
    title: "instrumentation coverage",
    failed: isLow,
    summary: `${isLow ? `below ${min} %: ` : ""}${callCoverageSummary(result)}`,
    total: missing.length,
    ...firstOf(items, mostItems),
    text: callCoverageLines(result).join("\n") || null,
  };
}

/** A tracefile in lcov's format: a line for each call site with a known name. */
export function callCoverageLcov({ sites }: CallCoverage): string {
  const files = new Map<string, Map<number, number>>();
  for (const { file, line, count, state } of sites) {
    if (state === "computed") continue;
    const lines = files.get(file) ?? new Map<number, number>();
    lines.set(line, Math.max(lines.get(line) ?? 0, count));
    files.set(file, lines);
  }
  return [...files]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([file, lines]) => {
      const rows = [...lines].sort(([a], [b]) => a - b);
      const hit = rows.filter(([, count]) => count > 0).length;
      const data = rows.map(([line, count]) => `DA:${line},${count}`);
      return ["TN:", `SF:${file}`, ...data, `LF:${rows.length}`, `LH:${hit}`, "end_of_record", ""];
    })
    .join("\n");
}
