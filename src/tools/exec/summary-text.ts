import { counted, times } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { findingText } from "../../kernel/command/finding.ts";
import type { Style } from "../../kernel/command/style.ts";
import { lintLine } from "../../lab/lint/lint-line.ts";
import { outcomeText } from "../../state/journal/outcomes.ts";
import type { Mishap, RunVerdict, VerdictSection } from "../../testing/run-report/shapes.ts";

const shownMishaps = 10;

const headline = ({ events, requests }: RunVerdict): string =>
  `${counted(events.kept, "event")} kept, ${events.dropped} dropped; ` +
  `${counted(requests.total, "request")} (${requests.flags} for flags), ` +
  `${requests.rejected} rejected, ${requests.unmatched} unmatched`;

const namedProjects = 5;

/** The projects of a mishap, each with the name of its test. */
function projectText({ tests }: Mishap): string {
  const named = tests.items.map(
    ({ project, name, count }) =>
      `${project === null ? "" : `project ${project} `}${clean(JSON.stringify(name), 120)}${times(count)}`,
  );
  const more = named.length + tests.left_out - namedProjects;
  return [...named.slice(0, namedProjects), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

interface MishapWords {
  /** `✕ dropped`. */
  readonly word: string;
  readonly isBad: boolean;
  readonly isName: boolean;
}

const words = {
  dropped: { word: outcomeText("dropped"), isBad: true, isName: true },
  rejected: { word: outcomeText("rejected"), isBad: true, isName: false },
  unmatched: { word: "unmatched", isBad: true, isName: false },
  egress: { word: "blocked", isBad: false, isName: false },
} as const satisfies Record<string, MishapWords>;

function mishapLine({ word, isBad, isName }: MishapWords, mishap: Mishap, style: Style): string {
  const what = isName ? `"${clean(mishap.what, 80)}"` : clean(mishap.what, 200);
  const text = findingText({ ...mishap, what, sentence: clean(mishap.sentence) });
  const projects = projectText(mishap);
  return `  ${isBad ? style.bad(word) : word} ${text}${projects && `\n    in ${projects}`}`;
}

/** The first lines of a list, and how many more there are. */
function firstLines(lines: readonly string[], all: number, most = shownMishaps): string[] {
  const more = all - most;
  if (more <= 1 && lines.length === all) return [...lines];
  return [...lines.slice(0, most), `  … and ${all - Math.min(most, lines.length)} more`];
}

const kindsOf = ({ items, left_out }: { readonly items: readonly unknown[]; readonly left_out: number }) =>
  items.length + left_out;

/** The report of a plan may be long; the last line sums it up elsewhere. */
function planLines({ plan }: RunVerdict): string[] {
  if (plan === null || plan.violations === 0) return [];
  const lines = plan.text.split("\n").map((line) => `  ${clean(line, 600)}`);
  return firstLines(lines, lines.length, 3 * shownMishaps);
}

const tapeText = ({ tape }: RunVerdict): string[] => (tape === null ? [] : tape.text.split("\n"));

const sectionWords = { word: "", isBad: false, isName: false };

const mostSectionLines = 60;

function sectionLines(section: VerdictSection, style: Style): string[] {
  const head = `phx-sim: ${clean(section.title, 100)}: ${clean(section.summary)}`;
  if (section.text !== null) {
    const lines = section.text.split("\n").map((line) => `  ${clean(line, 600)}`);
    return [head, ...firstLines(lines, lines.length, mostSectionLines)];
  }
  const word = clean(section.name, 40);
  const items = section.items.map((it) => mishapLine({ ...sectionWords, word }, it, style));
  return [head, ...firstLines(items, kindsOf(section))];
}

const silence = "  nothing reached it: does the app read one of the variables above? (phx-sim doctor checks them)";

export function summaryLines(verdict: RunVerdict, style: Style): string[] {
  const { dropped, rejected, unmatched, egress, faults, lint, sections } = verdict;
  const mishaps = Object.entries({ dropped, rejected, unmatched } as const).flatMap(([kind, { items }]) =>
    items.map((it) => mishapLine(words[kind as keyof typeof words], it, style)),
  );
  const kinds = kindsOf(dropped) + kindsOf(rejected) + kindsOf(unmatched);
  return [
    `phx-sim: ${headline(verdict)}`,
    ...(verdict.requests.total === 0 ? [silence] : []),
    ...firstLines(mishaps, kinds),
    ...firstLines(
      faults.items.map(({ name, requests }) => `  fault ${clean(name, 120)} touched ${counted(requests, "request")}`),
      kindsOf(faults),
    ),
    ...firstLines(
      egress.items.map((it) => mishapLine(words.egress, it, style)),
      kindsOf(egress),
    ),
    ...tapeText(verdict),
    ...planLines(verdict),
    ...firstLines(
      lint.items.map((it) => `  ${lintLine(it, style)}`),
      kindsOf(lint),
    ),
    ...sections.flatMap((it) => sectionLines(it, style)),
  ];
}

/** What GitHub makes a mention of a user or of an issue of: a name, a number, an address behind it. */
const mention = /@(?=\w)|#(?=\d)|\bGH(?=-\d)|:(?=\/\/[\w.-]*github\.)/gi;

/**
 * A cell of a Markdown table: captured text may not end the row, nor be HTML or a link, nor mention users or issues. A space
 * without width prevents that; an entity would not, because GitHub looks for mentions in the text that is shown.
 */
const cell = (text: string): string =>
  clean(text, 200)
    .replace(mention, (found) => `${found}\u200b`)
    .replace(/[\\`*_|[\]<>&]/g, (char) => `&#${char.codePointAt(0)};`);

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

function resultText({ verdict, failures, command }: RunVerdict): string {
  const code = ` (exit code of the command: ${command?.exit_code ?? 0})`;
  if (verdict === "passed") return `✅ passed${code}`;
  const others = failures.filter((it) => it.code !== "command_failed");
  return `❌ ${others.length === 0 ? "failed" : cell(others.map(({ text }) => text).join(", "))}${code}`;
}

const tableHead = (head: readonly string[]): string[] => [row(head), row(head.map(() => "---"))];

const moreRows = (left_out: number): string[] => (left_out > 0 ? ["", `… and ${left_out} more`] : []);

function table(head: readonly string[], rows: readonly string[], left_out: number): string[] {
  return rows.length === 0 ? [] : ["", ...tableHead(head), ...rows, ...moreRows(left_out)];
}

const mishapHead = ["", "what", "times", "project", "reason", "what happened", "what to do"];

const mishapRow = (kind: string, it: Mishap): string =>
  row([kind, cell(it.what), it.count, cell(projectText(it)), cell(it.code), cell(it.sentence), cell(it.fix)]);

function mishapTable({ dropped, rejected, unmatched, egress }: RunVerdict): string[] {
  const kinds = Object.entries({ dropped, rejected, unmatched, blocked: egress });
  const rows = kinds.flatMap(([kind, { items }]) => items.map((it) => mishapRow(kind, it)));
  return table(
    mishapHead,
    rows,
    kinds.reduce((sum, [, it]) => sum + it.left_out, 0),
  );
}

type LintRow = RunVerdict["lint"]["items"][number];

const lintRow = ({ code, severity, event, sentence, detail, fix, count }: LintRow): string =>
  row([severity, cell(event ?? ""), count, cell(code), `${cell(sentence)} (${cell(detail)})`, cell(fix)]);

/** Lines of a comment: GitHub takes 65,536 characters. */
const mostMarkdownLines = 200;

/**
 * Captured names in a block of code are neither HTML nor links, and mention no users. GitHub colours added (+), removed (-)
 * and changed (!) lines.
 */
function codeBlock(text: string): string[] {
  const coloured = (line: string) => line.replace(/^ +(?=[-+] )/, "").replace(/^ +~ /, "! ");
  const lines = text.split("\n").map((line) => coloured(clean(line, 600)));
  // longer than each run in the text, which would end the block
  const runs = lines.join("\n").match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((it) => it.length + 1)));
  return ["", `${fence}diff`, ...firstLines(lines, lines.length, mostMarkdownLines), fence];
}

const sectionMarkdown = ({ name, title, summary, items, left_out, text }: VerdictSection): string[] => [
  "",
  `### ${cell(title)}`,
  "",
  cell(summary),
  ...(text === null
    ? table(
        mishapHead,
        items.map((it) => mishapRow(name, it)),
        left_out,
      )
    : codeBlock(text)),
];

const mostPlanLines = 100;

/** The summary as Markdown, as CI systems show it for a job. */
export function summaryMarkdown(verdict: RunVerdict): string {
  const { faults, lint, plan } = verdict;
  const paragraphs = [
    ...faults.items.map(({ name, requests }) => `Fault ${cell(name)} touched ${counted(requests, "request")}.`),
    ...tapeText(verdict).map(cell),
    ...(plan ? plan.text.split("\n").slice(0, mostPlanLines).map(cell) : []),
  ];
  return [
    "## phx-sim",
    "",
    resultText(verdict),
    "",
    headline(verdict),
    ...mishapTable(verdict),
    ...table(["", "event", "times", "code", "what is odd", "what to do"], lint.items.map(lintRow), lint.left_out),
    ...paragraphs.flatMap((text) => ["", text]),
    ...verdict.sections.flatMap(sectionMarkdown),
    "",
  ].join("\n");
}
