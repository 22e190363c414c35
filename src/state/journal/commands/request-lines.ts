import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { counted, times } from "../../../kernel/base/text.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Style } from "../../../kernel/command/style.ts";
import { fixFor } from "../../../kernel/http/rejection-fixes.ts";
import { type Outcome, outcomeText } from "../outcomes.ts";
import type { Finding, RequestSummary } from "../request-summary.ts";

export type Verbosity = "quiet" | "normal" | "verbose";

interface RequestGroup extends RequestSummary {
  readonly requests: number;
}

export interface LineRules {
  readonly verbosity: Verbosity;
  readonly style: Style;
  readonly projectKey: string;
}

/** Above this many requests at once, those of the same sort share a line. */
const manyRequests = 20;

const maxFindingLines = 5;

/** Log lines for requests answered at about the same time: events in short, each drop and rejection with its reason. */
export function requestLines(requests: readonly RequestSummary[], rules: LineRules): string[] {
  const wanted = requests.filter((request) => isShown(request, rules.verbosity));
  const groups = rules.verbosity === "verbose" || wanted.length <= manyRequests ? wanted.map(alone) : together(wanted);
  return groups.flatMap((it) => [
    headLine(it, rules.style),
    ...rejectionLines(it, rules),
    ...findingLines("dropped", it.dropped, rules.style),
    ...findingLines("warned", it.warnings, rules.style),
  ]);
}

function isShown(request: RequestSummary, verbosity: Verbosity): boolean {
  if (verbosity === "quiet") return false;
  return (
    verbosity === "verbose" ||
    request.events > 0 ||
    request.status >= 400 ||
    request.rejected !== undefined ||
    request.fault !== undefined ||
    request.scripted === true ||
    request.source !== undefined
  );
}

const alone = (request: RequestSummary): RequestGroup => ({ ...request, requests: 1 });

function together(requests: readonly RequestSummary[]): RequestGroup[] {
  const groups = groupedBy(requests, ({ method, target, status, rejected, fault, scripted }) => {
    const cause = `${rejected?.reason ?? ""} ${fault ?? ""} ${scripted ?? ""}`;
    return `${method} ${pathOf(target)} ${status} ${cause}`;
  });
  return [...groups.values()].flatMap((group) => merged(group));
}

function merged(group: readonly RequestSummary[]): RequestGroup[] {
  const [first] = group;
  if (!first) return [];
  if (group.length === 1) return [alone(first)];
  return [
    {
      ...alone(first),
      target: pathOf(first.target),
      requests: group.length,
      ms: group.reduce((most, { ms }) => Math.max(most, ms), 0),
      events: group.reduce((sum, { events }) => sum + events, 0),
      names: [],
      dropped: group.flatMap(({ dropped }) => dropped),
      warnings: group.flatMap(({ warnings }) => warnings),
    },
  ];
}

const pathOf = (target: string): string => target.split("?", 1)[0] ?? target;

function headLine(it: RequestGroup, style: Style): string {
  const status = it.status === 0 ? "no response" : it.status;
  const head = `${clean(it.method, 20)} ${clean(it.target, 120)} ${status}${times(it.requests)}`;
  const fault = it.fault === undefined ? "" : style.bold(`fault ${clean(it.fault, 120)}`);
  const script = it.scripted ? style.bold("scripted") : "";
  const source = it.source === undefined ? "" : style.dim(clean(it.source, 120));
  return [head, fault, script, source, eventsPart(it), style.dim(timePart(it))]
    .filter((part) => part !== "")
    .join("  ");
}

const namesShown = 5;

function eventsPart({ events, dropped, names }: RequestGroup): string {
  if (events === 0) return "";
  const kept = events - dropped.length;
  const text = kept === events ? `${counted(events, "event")} kept` : `${kept} of ${counted(events, "event")} kept`;
  if (names.length === 0) return text;
  const more = kept > namesShown ? ", …" : "";
  return `${text}: ${names
    .slice(0, namesShown)
    .map((name) => clean(name, 60))
    .join(", ")}${more}`;
}

const timePart = ({ ms, requests }: RequestGroup): string => `${requests === 1 ? "" : "≤ "}${ms.toFixed(1)} ms`;

const shownInHead: ReadonlySet<string> = new Set(["fault", "script", "tape"]);

function rejectionLines({ rejected }: RequestGroup, { style, projectKey }: LineRules): string[] {
  // the line before names the fault, the script, or the tape
  if (!rejected || shownInHead.has(rejected.reason)) return [];
  const fix = clean(rejected.hint ?? fixFor(rejected.reason, projectKey), 500);
  const text = `${style.bold(outcomeText("rejected"))} ${clean(rejected.reason, 60)}: ${clean(rejected.detail)}`;
  return [`  ${text}${fix && ` → ${fix}`}`];
}

function findingLines(outcome: "dropped" | "warned", findings: readonly Finding[], style: Style): string[] {
  const groups = new Map<string, { finding: Finding; count: number }>();
  for (const finding of findings) {
    const sort = `${finding.reason} ${finding.event}`;
    const group = groups.get(sort);
    if (group) group.count++;
    else groups.set(sort, { finding, count: 1 });
  }
  const lines = [...groups.values()].map(({ finding, count }) => findingLine(outcome, finding, count, style));
  const more = lines.length - maxFindingLines;
  return more <= 1
    ? lines
    : [...lines.slice(0, maxFindingLines), `  … and ${more} other kinds of ${outcome} events (see the inspector)`];
}

function findingLine(outcome: Outcome, finding: Finding, count: number, style: Style): string {
  const name = finding.event === "" ? "(no name)" : `"${clean(finding.event, 80)}"`;
  return `  ${style.bold(outcomeText(outcome))} ${name}${times(count)} ${clean(finding.reason, 60)}: ${clean(finding.sentence)} → ${clean(finding.fix)}`;
}
