import { compareText, counted } from "../../kernel/base/text.ts";
import type { VerdictSection } from "../../testing/run-report/shapes.ts";
import { callNames } from "./calls.ts";
import type { CallCoverage } from "./shapes.ts";

type Site = CallCoverage["sites"][number];

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
  return {
    name: "coverage",
    title: "instrumentation coverage",
    failed: isLow,
    summary: `${isLow ? `below ${min} %: ` : ""}${callCoverageSummary(result)}`,
    total: missing.length,
    items: missing
      .slice(0, mostItems)
      .map((it) => ({
        code: it.state === "served" ? "flag_not_reported" : it.kind === "flag" ? "flag_never_read" : "never_fired",
        what: `${nameText(it)} ${placeOf(it)}`,
        sentence: sentenceOf(it),
        fix: "add a test that reaches this line, or remove the call",
        count: 1,
        tests: { items: [], left_out: 0 },
      })),
    left_out: Math.max(0, missing.length - mostItems),
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
