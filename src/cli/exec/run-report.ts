import { join } from "node:path";
import { Readable } from "node:stream";
import { systemCode } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { counted, times } from "../../base/text.ts";
import { writeWhole } from "../../base/whole-file.ts";
import type { LintFinding, Sim } from "../../index.ts";
import { outcomeText } from "../../journal/outcomes.ts";
import { lintLine } from "../../lint/command.ts";
import { missedOf, type Played, tapeLines } from "../../tapes/commands/tape-summary.ts";
import { clean } from "../clean-text.ts";
import { Failure } from "../failure.ts";
import { plain, type Style } from "../style.ts";
import { reasonOf } from "../system-reason.ts";
import type { Blocked } from "./child-environment.ts";
import { allEvents, type Mishap, type PlanOutcome, type TrafficCount } from "./run-findings.ts";

/** Kinds of mishaps that the terminal shows; the report has more. */
const shownMishaps = 10;
const reportedMishaps = 100;

/** The result of a run. */
export interface ExecRun {
  readonly tally: Pick<TrafficCount, "counts" | "mishaps" | "faults">;
  /** Calls to the real service. */
  readonly blocked: readonly Blocked[];
  /** The result of the tracking plan, if there is one. */
  readonly plan: PlanOutcome | null;
  readonly lint: readonly LintFinding[];
  /** Use of the tape that answered, if there is one. */
  readonly tape?: Played;
  /** The exit code of the command. */
  readonly code: number;
  /** Why the run fails although the command passed. */
  readonly failures: readonly string[];
}

const headline = ({ kept, dropped, requests, flags, rejected, unmatched }: TrafficCount["counts"]): string =>
  `${counted(kept, "event")} kept, ${dropped} dropped; ${counted(requests, "request")} (${flags} for flags), ` +
  `${rejected} rejected, ${unmatched} unmatched`;

/** Projects that a mishap names at most. */
const namedProjects = 5;

/** The projects of a mishap, each with the name of its test. */
function projectText({ projects }: Mishap): string {
  const named = [...projects].map(([name, count]) => `${clean(name, 120)}${times(count)}`);
  const more = named.length - namedProjects;
  return [...named.slice(0, namedProjects), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function mishapLine(mishap: Mishap, style: Style): string {
  const { kind, what, reason, sentence, fix, count } = mishap;
  const named = kind === "dropped" ? `"${clean(what, 80)}"` : clean(what, 120);
  const word = kind === "unmatched" ? kind : outcomeText(kind);
  const line = `${style.bad(word)} ${named}${times(count)} ${clean(reason, 60)}: ${clean(sentence)}`;
  const projects = projectText(mishap);
  return `  ${line}${fix && ` → ${clean(fix)}`}${projects && `\n    in ${projects}`}`;
}

const faultLine = ([name, requests]: [string, number]): string =>
  `  fault ${clean(name, 120)} touched ${counted(requests, "request")}`;

const blockedLine = ({ call, count }: Blocked): string =>
  `  blocked ${clean(call, 200)}${times(count)} → it does not use POSTHOG_HOST`;

/** The report of a plan may be long; the last line sums it up elsewhere. */
const planLines = (plan: PlanOutcome | null): string[] =>
  plan === null || plan.violations === 0
    ? []
    : firstOf(plan.text.split("\n"), 3 * shownMishaps, (line) => `  ${clean(line, 600)}`);

/** The first of a list, and how many more there are. */
function firstOf<T>(items: readonly T[], most: number, line: (item: T) => string): string[] {
  const more = items.length - most;
  if (more <= 1) return items.map(line);
  return [...items.slice(0, most).map(line), `  … and ${more} more`];
}

const silence =
  "  nothing reached it: does the app read one of the variables above? (phx-sim doctor checks them)";

/** The summary on a terminal. */
export function summaryLines({ tally, blocked, plan, lint, tape }: ExecRun, style: Style): string[] {
  return [
    `phx-sim: ${headline(tally.counts)}`,
    ...(tally.counts.requests === 0 ? [silence] : []),
    ...firstOf(tally.mishaps(), shownMishaps, (mishap) => mishapLine(mishap, style)),
    ...firstOf(tally.faults(), shownMishaps, faultLine),
    ...firstOf(blocked, shownMishaps, blockedLine),
    ...tapeLines(tape, style),
    ...planLines(plan),
    ...firstOf(lint, shownMishaps, (it) => `  ${lintLine(it, style)}`),
  ];
}

/** A cell of a Markdown table: captured text may not end the row, nor be HTML or a link. */
const cell = (text: string): string =>
  clean(text, 200).replace(/[\\`*_|[\]<>&]/g, (char) => `&#${char.codePointAt(0)};`);

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const verdictOf = ({ failures, code, tape }: ExecRun): string => {
  if (failures.length > 0) return `❌ ${cell(failures.join(", "))}`;
  if (code === 0 && missedOf(tape) > 0) return "❌ some requests were not on the tape";
  return code === 0 ? "✅ passed" : "❌ failed";
};

const tableHead = (head: readonly string[]): string[] => [row(head), row(head.map(() => "---"))];

function mishapTable(mishaps: readonly Mishap[]): string[] {
  if (mishaps.length === 0) return [];
  const more = mishaps.length - reportedMishaps;
  return [
    "",
    ...tableHead(["", "what", "times", "project", "reason", "what happened", "what to do"]),
    ...mishaps
      .slice(0, reportedMishaps)
      .map((it) =>
        row([
          it.kind,
          cell(it.what),
          it.count,
          cell(projectText(it)),
          cell(it.reason),
          cell(it.sentence),
          cell(it.fix),
        ]),
      ),
    ...(more > 0 ? ["", `… and ${more} more`] : []),
  ];
}

const lintRow = ({ code, severity, event, sentence, detail, fix, count }: LintFinding): string =>
  row([severity, cell(event ?? ""), count, cell(code), `${cell(sentence)} (${cell(detail)})`, cell(fix)]);

function lintTable(findings: readonly LintFinding[]): string[] {
  if (findings.length === 0) return [];
  const more = findings.length - reportedMishaps;
  return [
    "",
    ...tableHead(["", "event", "times", "code", "what is odd", "what to do"]),
    ...findings.slice(0, reportedMishaps).map(lintRow),
    ...(more > 0 ? ["", `… and ${more} more`] : []),
  ];
}

/** The summary as Markdown, as CI systems show it for a job. */
export function summaryMarkdown(run: ExecRun): string {
  const { tally, blocked, plan, lint, tape, code } = run;
  const paragraphs = [
    ...tally
      .faults()
      .map(([name, requests]) => `Fault ${cell(name)} touched ${counted(requests, "request")}.`),
    ...blocked.slice(0, reportedMishaps).map(({ call, count }) => `Blocked: ${cell(call)}${times(count)}`),
    ...tapeLines(tape, plain).map(cell),
    ...(plan ? plan.text.split("\n").slice(0, reportedMishaps).map(cell) : []),
  ];
  return [
    "## phx-sim",
    "",
    `${verdictOf(run)} (exit code of the command: ${code})`,
    "",
    headline(tally.counts),
    ...mishapTable(tally.mishaps()),
    ...lintTable(lint),
    ...paragraphs.flatMap((text) => ["", text]),
    "",
  ].join("\n");
}

/** Makes the report's folder, before the work whose report it is to hold. @throws Failure usage */
export function makeReportFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = systemCode(error) === "EEXIST" ? "it is a file" : reasonOf(error);
    throw new Failure("usage", `the report cannot be put into ${clean(folder)}: ${reason}`, error);
  }
}

/**
 * Writes events.ndjson (kept and dropped events), requests.har and summary.md; each appears whole or not at all.
 * @throws Failure failed
 */
export async function writeReport(folder: string, sim: Sim, summary: string): Promise<void> {
  const files: readonly (readonly [string, () => Promise<Content>])[] = [
    ["events.ndjson", async () => eventLines(sim)],
    ["requests.har", () => harOf(sim)],
    ["summary.md", async () => [summary]],
  ];
  try {
    for (const [name, content] of files) await writeWhole(join(folder, name), await content(), 0o666);
  } catch (error) {
    throw new Failure("failed", `the report in ${clean(folder)} is incomplete: ${reasonOf(error)}`, error);
  }
}

type Content = Iterable<string> | AsyncIterable<string | Uint8Array>;

async function* eventLines(sim: Sim): AsyncGenerator<string> {
  for await (const event of allEvents(sim)) yield `${JSON.stringify(event)}\n`;
}

/** The newest N are in the report. */
const mostRequests = 10_000;

async function harOf(sim: Sim): Promise<Content> {
  const answer = await sim.handle(new Request(`${sim.url}/__sim/requests.har?limit=${mostRequests}`));
  if (!answer.ok || !answer.body) throw new Error(`requests.har is answered with ${answer.status}`);
  return Readable.fromWeb(answer.body);
}
