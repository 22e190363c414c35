import { counted, times } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type JunitCase, junitReport } from "../../kernel/command/junit.ts";
import { outcomeText } from "../../state/journal/outcomes.ts";
import type { Mishap, RunVerdict, TestedProject } from "../../testing/run-report/shapes.ts";

/** Lines of a failed case. */
const mostLines = 50;

const lineOf = (kind: string, { what, code, sentence, fix, count }: Mishap): string =>
  `${kind} ${clean(what, 200)}${times(count)} ${code}: ${clean(sentence)}${fix && ` → ${clean(fix)}`}`;

const kinds = ["dropped", "rejected", "unmatched"] as const;

const kindText = (kind: (typeof kinds)[number]): string => (kind === "unmatched" ? kind : outcomeText(kind));

/** A test fails if it has a mishap of a kind that fails the run; others are its output. */
function testCase(test: TestedProject, verdict: RunVerdict): JunitCase {
  const found = kinds.flatMap((kind) =>
    verdict[kind].items
      .filter(({ tests }) => tests.items.some(({ project }) => project === test.project))
      .map((it) => ({ kind, line: lineOf(kindText(kind), it) })),
  );
  const name = clean(test.name, 500);
  const isFatal = (kind: string) => verdict.fail_on.includes(kind);
  const fatal = kinds.filter((kind) => isFatal(kind) && test[kind] > 0);
  const [first] = fatal;
  const output = found
    .filter(({ kind }) => !isFatal(kind))
    .map(({ line }) => line)
    .slice(0, mostLines);
  if (first === undefined) return { name, output };
  const message = fatal
    .map((kind) => `${counted(test[kind], kind === "dropped" ? "event" : "request")} ${kind}`)
    .join(", ");
  const lines = found.filter(({ kind }) => isFatal(kind)).map(({ line }) => line);
  return { name, failure: { type: first, message, lines: lines.slice(0, mostLines) }, output };
}

/** The details of a failure: what its rule or its section lists. */
function linesOf(code: string, verdict: RunVerdict): string[] {
  const { plan, lint, sections } = verdict;
  if (code === "plan") return plan?.text.split("\n") ?? [];
  if (code === "lint")
    return lint.items.map((it) => `${it.event ?? `request ${it.n}`} ${it.code}: ${it.sentence} → ${it.fix}`);
  if (code === "tape_missed") return verdict.tape?.text.split("\n") ?? [];
  const listed =
    code === "dropped" || code === "rejected" || code === "unmatched" || code === "egress"
      ? verdict[code].items
      : (sections.find(({ name }) => name === code)?.items ?? []);
  return listed.map((it) => lineOf(code, it));
}

/** The verdict as JUnit XML: a case for the command, each rule and section, and each test. */
export function junitOf(verdict: RunVerdict): string {
  const checks = ["command", ...verdict.fail_on, ...verdict.sections.map(({ name }) => name)];
  const nameOf = (code: string): string => (code === "command_failed" || code === "command_not_run" ? "command" : code);
  const failed = new Map(verdict.failures.map((it) => [nameOf(it.code), it]));
  const ruleCase = (name: string): JunitCase => {
    const failure = failed.get(name);
    const title = name === "command" ? name : `rule ${name}`;
    if (!failure) return { name: title };
    const lines = linesOf(failure.code, verdict).slice(0, mostLines);
    return { name: title, failure: { type: failure.code, message: failure.text, lines } };
  };
  const names = [...new Set([...checks, ...failed.keys()])];
  const { items, left_out } = verdict.tests;
  const rest: JunitCase[] =
    left_out > 0 ? [{ name: `${counted(left_out, "further test")}`, skipped: "not listed" }] : [];
  return junitReport("phx-sim exec", [...names.map(ruleCase), ...items.map((it) => testCase(it, verdict)), ...rest]);
}
