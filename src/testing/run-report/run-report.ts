import { isoOf } from "../../kernel/base/clock.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { times } from "../../kernel/base/text.ts";
import { version } from "../../kernel/base/version.ts";
import type { LintFinding } from "../../lab/lint/shapes.ts";
import type { FlagTotal } from "../../service/flags/decision-shapes.ts";
import type { SdkTotals } from "../../state/journal/sdk-shapes.ts";
import { type FailReason, trippedBy } from "./fail-rules.ts";
import type { FlagRead, Mishap, RunFailure, RunVerdict, TestedProject, VerdictSection } from "./shapes.ts";
import type { CountedMishap, ProjectCount, Tally } from "./tally.ts";

type Step = RunVerdict["next_steps"][number];
type Facts = Omit<RunVerdict, "next_steps">;

/** Steps that are listed, and those of one kind. */
const mostSteps = 12;
const mostOfKind = 3;

const step = (code: string, text: string, command: string | null = null): Step => ({ code, text, command });

const nothingArrived = ({ requests }: Facts): Step[] =>
  requests.total > 0
    ? []
    : [
        step(
          "nothing_arrived",
          "no request reached the sim: the app must read one of the variables that the command gets; doctor checks them",
          "phx-sim doctor",
        ),
      ];

const fixes = (verb: string, { items }: { readonly items: readonly Mishap[] }): Step[] =>
  items
    .filter(({ fix }) => fix !== "")
    .slice(0, mostOfKind)
    .map(({ code, what, count, fix }) => step(code, `${verb} ${what}${times(count)}: ${fix}`));

const notPlanned = ({ plan }: Facts): Step[] =>
  plan === null || plan.violations === 0
    ? []
    : plan.items
        .slice(0, mostOfKind)
        .map(({ code, what, sentence }) =>
          step(code, `correct ${what}, or the plan: ${sentence}`, "phx-sim plan check"),
        );

const lintFixes = ({ lint }: Facts): Step[] =>
  lint.items
    .filter(({ severity }) => severity === "warning")
    .slice(0, mostOfKind)
    .map(({ code, event, n, fix }) => step(code, `correct ${event ?? `request ${n}`}: ${fix}`));

const sectionFixes = ({ sections }: Facts): Step[] =>
  sections.filter(({ failed }) => failed).flatMap((it) => fixes("correct", it));

const tapeAdvice = ({ tape }: Facts): Step[] => {
  if (tape === null) return [];
  if (tape.advice !== null) return [step("tape_missed", tape.advice)];
  if (tape.missed === 0) return [];
  const text = "record the tape again, or add --on-miss emulate: the app sends requests that it does not have";
  return [step("tape_missed", text, `phx-sim record --tape ${JSON.stringify(tape.name)} -- COMMAND`)];
};

const outdated = ({ sdks }: Facts): Step[] =>
  sdks.items.flatMap(({ name, hints }) => hints.map((hint) => step("outdated_sdk", `update ${name}: ${hint}`)));

const look = ({ verdict, files, command }: Facts): Step[] => {
  if (verdict === "passed" || command === null) return [];
  const page = files.find((it) => it.endsWith("report.html"));
  return page === undefined
    ? [step("report", "add --report DIR to phx-sim exec to see each test with its events and requests")]
    : [step("report", `open ${page}: each test with its events and requests`)];
};

const nextSteps = (facts: Facts): Step[] =>
  [
    ...nothingArrived(facts),
    ...fixes("fix dropped", facts.dropped),
    ...fixes("fix rejected", facts.rejected),
    ...fixes("fix", facts.unmatched),
    ...fixes("redirect", facts.egress),
    ...notPlanned(facts),
    ...sectionFixes(facts),
    ...lintFixes(facts),
    ...tapeAdvice(facts),
    ...outdated(facts),
  ]
    .slice(0, mostSteps)
    .concat(look(facts));

export interface RunFacts {
  readonly title: string;
  readonly command: RunVerdict["command"];
  /** ms since the epoch. */
  readonly started: number;
  readonly ended: number;
  readonly failOn: readonly FailReason[];
  readonly traffic: Tally;
  /** Calls to the real service that were blocked, equal ones counted. */
  readonly blocked: readonly { readonly call: string; readonly count: number }[];
  readonly plan: RunVerdict["plan"];
  readonly lint: readonly LintFinding[];
  readonly sdks: Pick<SdkTotals, "sdks" | "more">;
  readonly flags: readonly FlagTotal[];
  readonly tape: RunVerdict["tape"];
  readonly sections: readonly VerdictSection[];
  /** Failures that are none of a rule or a section. */
  readonly problems: readonly RunFailure[];
  readonly files: readonly string[];
}

/** Items of the lists. Programs read them whole, so they are short; the report's files have all. */
const mostListed = 100;
const mostNames = 200;
const mostTests = 1_000;
const mostTestsOfMishap = 20;

export const firstOf = <Item>(items: readonly Item[], most: number) => ({
  items: items.slice(0, most),
  left_out: Math.max(0, items.length - most),
});

type Projects = Tally["projects"];

const testsOf = (counts: ReadonlyMap<number, number>, projects: Projects): Mishap["tests"] =>
  firstOf(
    [...counts].map(([project, count]) => ({ project, name: projects.get(project)?.name ?? "", count })),
    mostTestsOfMishap,
  );

function mishapsOf(kind: "dropped" | "rejected" | "unmatched", { counts, mishaps, projects }: Tally) {
  const shown = ({ reason, what, sentence, fix, count, projects: of }: CountedMishap): Mishap => ({
    ...{ code: reason, what, sentence, fix, count },
    tests: testsOf(of, projects),
  });
  return { total: counts[kind], ...firstOf([...mishaps[kind].values()].map(shown), mostListed) };
}

export const noTests: Mishap["tests"] = { items: [], left_out: 0 };

function egressOf(blocked: RunFacts["blocked"]): RunVerdict["egress"] {
  const shown = ({ call, count }: RunFacts["blocked"][number]): Mishap => ({
    code: "egress",
    what: call,
    sentence: "this call to the real service was blocked",
    fix: "set the SDK's host from POSTHOG_HOST; for a hard-coded host add --reroute",
    count,
    tests: noTests,
  });
  const total = blocked.reduce((sum, { count }) => sum + count, 0);
  return { total, ...firstOf(blocked.map(shown), mostListed) };
}

const mishapCount = ({ dropped, rejected, unmatched }: ProjectCount): number => dropped + rejected + unmatched;

function testsIn(projects: Projects): RunVerdict["tests"] {
  const rows = [...projects].sort(
    ([, a], [, b]) => Number(mishapCount(b) > 0) - Number(mishapCount(a) > 0) || a.first - b.first,
  );
  const shown = ([project, { first, last, ...counts }]: [number, ProjectCount]): TestedProject => ({
    ...{ project, ...counts },
    first_at: isoOf(first),
    last_at: isoOf(last),
  });
  return firstOf(rows.map(shown), mostTests);
}

function namesIn({ names, otherNames }: Tally): RunVerdict["events"]["names"] {
  const rows = [...names].sort(([, a], [, b]) => b.kept + b.dropped - (a.kept + a.dropped));
  const { items, left_out } = firstOf(rows, mostNames);
  return {
    items: items.map(([event, { kept, dropped, first, last }]) => ({
      ...{ event, kept, dropped },
      first_at: isoOf(first),
      last_at: isoOf(last),
    })),
    left_out: left_out + otherNames,
  };
}

function flagsRead(totals: readonly FlagTotal[], projects: Projects): RunVerdict["flags"] {
  const rows = [...groupedBy(totals, ({ key }) => key)].map(([key, of]): FlagRead => {
    const values = new Map<FlagRead["values"][number]["value"], FlagRead["values"][number]>();
    for (const { value, served, called } of of.flatMap((it) => it.values)) {
      const sum = values.get(value) ?? { value, served: 0, called: 0 };
      values.set(value, { value, served: sum.served + served, called: sum.called + called });
    }
    const counts = of.map(({ project, served, called }) => [project, Math.max(served, called)] as const);
    return {
      key,
      served: of.reduce((sum, it) => sum + it.served, 0),
      called: of.reduce((sum, it) => sum + it.called, 0),
      values: [...values.values()].sort((a, b) => b.served + b.called - (a.served + a.called)).slice(0, 20),
      tests: testsOf(
        new Map(counts.flatMap(([project, count]) => (project === null ? [] : [[project, count]]))),
        projects,
      ),
    };
  });
  return firstOf(
    rows.sort((a, b) => b.called - a.called || b.served - a.served),
    mostListed,
  );
}

function lintOf(findings: readonly LintFinding[], projects: Projects): RunVerdict["lint"] {
  const rows = findings.map((it) => ({ ...it, test: projects.get(it.project)?.name ?? null }));
  const warnings = findings.filter(({ severity }) => severity === "warning").length;
  return { warnings, hints: findings.length - warnings, ...firstOf(rows, mostListed) };
}

function failuresOf(
  { command, failOn, problems, tape }: RunFacts,
  runCounts: Parameters<typeof trippedBy>[1],
): RunFailure[] {
  const code = command?.exit_code ?? 0;
  const isNotRun = problems.some((it) => it.code === "command_not_run");
  return [
    ...(code === 0 || isNotRun
      ? []
      : [{ code: "command_failed", text: `the command ended with exit code ${code}`, count: 1 }]),
    ...trippedBy(failOn, runCounts),
    ...runCounts.sections
      .filter(({ failed }) => failed)
      .map(({ name, summary, total }) => ({ code: name, text: summary, count: total })),
    ...(tape?.on_miss === "fail" && tape.missed > 0
      ? [{ code: "tape_missed", text: "some requests were not on the tape", count: tape.missed }]
      : []),
    ...problems,
  ];
}

export function verdictOf(facts: RunFacts): RunVerdict {
  const { traffic, command, sdks, failOn } = facts;
  const { counts, projects } = traffic;
  const runCounts = {
    dropped: mishapsOf("dropped", traffic),
    rejected: mishapsOf("rejected", traffic),
    unmatched: mishapsOf("unmatched", traffic),
    egress: egressOf(facts.blocked),
    plan: facts.plan,
    lint: lintOf(facts.lint, projects),
    sections: [...facts.sections],
  };
  const failures = failuresOf(facts, runCounts);
  const code = command?.exit_code ?? 0;
  const result: Omit<RunVerdict, "next_steps"> = {
    schema_version: 1,
    verdict: failures.length === 0 ? "passed" : "failed",
    exit_code: code === 0 && failures.length > 0 ? 1 : code,
    title: facts.title,
    command,
    version,
    started_at: isoOf(facts.started),
    ended_at: isoOf(facts.ended),
    fail_on: [...new Set(failOn)],
    failures,
    events: { kept: counts.kept, warned: counts.warned, dropped: counts.dropped, names: namesIn(traffic) },
    requests: { total: counts.requests, flags: counts.flags, rejected: counts.rejected, unmatched: counts.unmatched },
    tests: testsIn(projects),
    ...runCounts,
    faults: firstOf(
      [...traffic.faults].map(([name, requests]) => ({ name, requests })),
      mostListed,
    ),
    sdks: { items: sdks.sdks, left_out: sdks.more },
    flags: flagsRead(facts.flags, projects),
    tape: facts.tape,
    files: [...facts.files],
  };
  const { schema_version, verdict, exit_code, title, ...rest } = result;
  // in the order of a reader's interest
  const first = { schema_version, verdict, exit_code, title, failures, next_steps: nextSteps(result) };
  return { ...first, ...rest };
}
