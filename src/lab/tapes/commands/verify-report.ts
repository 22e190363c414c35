import { counted } from "../../../kernel/base/text.ts";
import { writeWhole } from "../../../kernel/base/whole-file.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { emphasized, isAtLeast } from "../../../kernel/command/finding.ts";
import { junitReport } from "../../../kernel/command/junit.ts";
import type { Style } from "../../../kernel/command/style.ts";
import type { DifferenceGroup } from "../shapes.ts";
import { type Comparison, type RouteTally, skipReasons } from "../verify/compare.ts";
import type { Severity } from "../verify/compare-json.ts";
import { onFile } from "./tape-trouble.ts";

export interface ReportRequest {
  command: string;
  name: string;
  /** Ends `20 of 20 exchanges compared with …`. */
  with: string;
  sides: Sides;
  failOn: Severity;
  json: boolean;
  junit: string | undefined;
  notes?: readonly string[];
  named: Readonly<Record<string, string>>;
}

/** Reports a comparison as text, JSON and JUnit; fails when there is a difference that is to fail, or nothing to compare. @throws Failure */
export async function reportComparison(result: Comparison, request: ReportRequest, shell: Shell): Promise<"ok"> {
  const { name, json, junit, sides } = request;
  const fails = (it: { severity: Severity }) => isAtLeast(it.severity, request.failOn);
  const failed = result.groups.filter(fails);
  const trouble = troubleOf(result);
  const ok = failed.length === 0 && trouble === undefined;
  const title = `phx-sim ${request.command}`;
  if (junit !== undefined)
    await onFile(junit, () => writeWhole(junit, [verifyJunit(title, result, fails, sides, trouble)], 0o666));
  warnOfDamage(result, shell);
  if (json) shell.out.say(JSON.stringify({ ok, ...request.named, ...result }));
  else shell.out.say(...verifyLines(result, request, shell.outStyle));
  if (ok) return "ok";
  const why = [...(failed.length > 0 ? [countsText(failed)] : []), ...(trouble === undefined ? [] : [trouble])];
  throw new Failure("failed", `${why.join("; ")} (${clean(name)})`);
}

function troubleOf({ compared, damaged }: Comparison): string | undefined {
  const missing = [
    ...(damaged > 0 ? [damageText(damaged)] : []),
    ...(compared === 0 ? ["there was nothing to compare"] : []),
  ];
  return missing.length > 0 ? missing.join(", ") : undefined;
}

export const damageText = (damaged: number): string => `the tape is damaged: ${counted(damaged, "line")} passed over`;

function warnOfDamage({ damaged, problems: [problem] }: Pick<Comparison, "damaged" | "problems">, shell: Shell): void {
  if (problem === undefined) return;
  const where = `line ${problem.line}: ${problem.detail}`;
  shell.err.say(clean(`phx-sim: ${counted(damaged, "line")} of the tape passed over; ${where}`, 600));
}

const mostProblems = 20;

/** Collects what is wrong with a tape: all are counted, the first few kept. */
export function problemCount<P>() {
  const found: { damaged: number; problems: P[] } = { damaged: 0, problems: [] };
  return {
    found,
    add(problem: P): void {
      found.damaged++;
      if (found.problems.length < mostProblems) found.problems.push(problem);
    },
  };
}

const mostLines = 200;

const severities: readonly Severity[] = ["break", "additive", "value"];

type Sides = readonly [recorded: string, other: string];

/** `body.requestId: the key is missing (recorded string, here nothing)`, safe on a terminal. */
const differenceText = ({ path, detail, recorded, own }: DifferenceGroup, [first, second]: Sides): string =>
  `${clean(path, 120)}: ${detail} (${first} ${clean(recorded, 80)}, ${second} ${clean(own, 80)})`;

function groupLine(group: DifferenceGroup, sides: Sides, style: Style): string {
  const label = emphasized(group.severity, group.severity.padEnd(8), style);
  const times = `${group.count}×`.padStart(6);
  return `  ${label}${times}  ${differenceText(group, sides)}  ${style.dim(`#${group.first}`)}`;
}

interface Routes {
  readonly groups: readonly DifferenceGroup[];
  readonly routes: readonly RouteTally[];
}

/** Routes with the gravest differences first; each route's differences below it. */
function routeLines({ groups, routes }: Routes, sides: Sides, style: Style) {
  const order = [...new Set(groups.map(({ route }) => route))];
  return order.flatMap((route) => {
    const compared = routes.find((it) => it.route === route)?.compared ?? 0;
    const title = `${style.bold(clean(route, 120))} (${counted(compared, "response")})`;
    return [title, ...groups.filter((it) => it.route === route).map((it) => groupLine(it, sides, style))];
  });
}

/** `2 breaks, 1 additive, 3 values`. */
function countsText(groups: readonly DifferenceGroup[]): string {
  const words = severities.flatMap((severity) => {
    const count = groups.filter((it) => it.severity === severity).length;
    if (count === 0) return [];
    return severity === "additive" ? `${count} additive` : counted(count, severity);
  });
  return words.join(", ") || "no differences";
}

function skippedLines({ skipped }: Comparison): string[] {
  const rows = Object.entries(skipReasons).flatMap(([reason, text]) => {
    const count = skipped[reason as keyof typeof skipReasons] ?? 0;
    return count > 0 ? [`${count} ${text}`] : [];
  });
  return rows.length > 0 ? [`not compared: ${rows.join("; ")}`] : [];
}

interface LinesRequest {
  readonly name: string;
  readonly with: string;
  readonly sides: Sides;
  readonly notes?: readonly string[];
}

function verifyLines(result: Comparison, request: LinesRequest, style: Style): string[] {
  const lines = routeLines(result, request.sides, style);
  const left = lines.length - mostLines;
  return [
    ...lines.slice(0, mostLines),
    ...(left > 0 ? [`… ${left} more lines; --json has all`] : []),
    ...(result.left > 0 ? [`… and ${counted(result.left, "difference")} of too many kinds`] : []),
    ...skippedLines(result),
    ...(request.notes ?? []),
    `${clean(request.name)}: ${result.compared} of ${counted(result.exchanges, "exchange")} compared with ${clean(request.with)}: ${countsText(result.groups)}`,
  ];
}

/** A test case for each route, failed if it has a difference that `fails`; `trouble` is a failed case of its own. */
function verifyJunit(
  title: string,
  { routes, groups }: Pick<Comparison, "routes" | "groups">,
  fails: (group: DifferenceGroup) => boolean,
  sides: Sides,
  trouble: string | undefined,
): string {
  const textOf = (it: DifferenceGroup): string =>
    `${it.severity} ${it.count} of ${it.of}: ${differenceText(it, sides)} #${it.first}`;
  const cases = routes.map(({ route }) => {
    const own = groups.filter((it) => it.route === route);
    const failing = own.filter(fails);
    const [first] = failing;
    return {
      name: route,
      ...(first && { failure: { type: first.severity, message: textOf(first), lines: failing.map(textOf) } }),
      output: own.filter((it) => !fails(it)).map(textOf),
    };
  });
  const whole = trouble === undefined ? [] : [{ name: "tape", failure: { type: "tape", message: trouble, lines: [] } }];
  return junitReport(title, [...whole, ...cases]);
}
