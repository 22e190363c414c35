import { times } from "../../kernel/base/text.ts";
import type { Mishap, RunVerdict } from "./shapes.ts";

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

export const nextSteps = (facts: Facts): Step[] =>
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
