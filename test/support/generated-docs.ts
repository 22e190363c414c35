import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { commands } from "../../src/cli/commands.ts";
import { startSim } from "../../src/index.ts";
import { type ErrorCode, errorCodes, SimError } from "../../src/kernel/base/errors.ts";
import type { Command } from "../../src/kernel/command/command.ts";
import { type Option, placedOf, variableOf } from "../../src/kernel/command/options.ts";
import { fixFor } from "../../src/kernel/http/rejection-fixes.ts";
import { jsonSchemaOf } from "../../src/kernel/http/row.ts";
import { operators } from "../../src/lab/assert/match/operators.ts";
import { Persona, PersonaStep } from "../../src/lab/generate/shapes.ts";
import { lintCodes } from "../../src/lab/lint/codes.ts";
import { proxyCodes } from "../../src/lab/proxy-check/codes.ts";
import { frameworkTitles } from "../../src/lab/proxy-check/frameworks.ts";
import { probeRows } from "../../src/lab/proxy-check/probes.ts";
import { absentFunctions } from "../../src/service/query/hogql/functions/table.ts";
import { absentTables } from "../../src/service/query/hogql/hogql.ts";
import { absentSessionColumns } from "../../src/service/query/hogql/sessions.ts";
import { absentEventColumns } from "../../src/service/query/hogql/tables.ts";
import { kinds } from "../../src/service/query/kinds.ts";
import { knownKinds, wrappers } from "../../src/service/query/read-query.ts";
import { differences } from "../../src/state/documents/dialect.ts";
import { dropReasons, type ReasonText, warnings } from "../../src/state/journal/drop-reasons.ts";
import { filterFields } from "../../src/state/journal/filter/fields.ts";
import type { FilterKind } from "../../src/state/journal/filter/types.ts";
import { outcomes, outcomeText } from "../../src/state/journal/outcomes.ts";
import { RunVerdict } from "../../src/testing/run-report/shapes.ts";
import { checkRules } from "../../src/tools/check/build-report.ts";
import { tools } from "../../src/tools/mcp/server.ts";
import { tallyOf, verdict } from "../testing/run-report/facts.ts";
import { root } from "./docs.ts";
import { allEndpoints, type ListedEndpoint } from "./endpoints.ts";

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows]
    .map((row) => `| ${row.map((it) => it.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

/** Text that a renderer of Markdown does not take for HTML. */
const prose = (text: string): string => text.replaceAll("<", "&lt;");

/** A table's first cell that links can point to, as `reasons.md#missing_distinct_id`. */
const anchored = (code: string): string => `<a id="${code}"></a>\`${code}\``;

const projects = "/api/projects/:project_id";
const environments = "/api/environments/:project_id";

/** True for a row below an environment that repeats one below its project. */
const isAlias = (path: string, paths: ReadonlySet<string>): boolean =>
  path.startsWith(environments) && paths.has(path.replace(environments, projects));

const endpointTable = (rows: readonly ListedEndpoint[]): string =>
  table(
    ["endpoint", "scope", "in the contract", "does"],
    rows.map((it) => [
      `${it.methods.join(", ")} \`${it.path}\``,
      it.scope === undefined ? "" : `\`${it.scope}\``,
      it.contract === undefined ? "" : "yes",
      it.summary,
    ]),
  );

const byArea = (rows: readonly ListedEndpoint[]): string =>
  [...new Set(rows.map((it) => it.area))]
    .map((area) => `## ${area}\n\n${endpointTable(rows.filter((it) => it.area === area))}`)
    .join("\n\n");

const fieldTable = (kind: FilterKind): string =>
  table(
    ["field", "what it is", "example"],
    filterFields[kind].map(({ name, aliases = [], note, example }) => [
      [name, ...aliases].map((it) => `\`${it}\``).join(", "),
      note,
      `\`${example}\``,
    ]),
  );

const reasonTable = (reasons: Readonly<Record<string, ReasonText>>): string =>
  table(
    ["reason", "what happened", "what to do"],
    Object.entries(reasons).map(([code, it]) => [anchored(code), it.sentence, it.fix]),
  );

/** The fix, then those of frameworks. */
const fixesOf = ({ other, ...own }: { readonly other: string } & Readonly<Record<string, string>>): string =>
  [
    prose(other),
    ...Object.entries(own).map(
      ([name, fix]) => `**${frameworkTitles[name as keyof typeof frameworkTitles]}**: ${prose(fix)}`,
    ),
  ].join("<br>");

const placeholder = (name: string, { optional, many }: Partial<Option>): string => {
  const word = `${name.toUpperCase()}${many ? "…" : ""}`;
  return optional ? `[${word}]` : word;
};

function spelled({ name, options }: Command): string {
  const placed = placedOf(options).map((it) => placeholder(it, options[it] ?? {}));
  const rest = Object.entries(options).find(([, it]) => it.rest);
  const command = rest ? [`-- ${placeholder(rest[0], { many: true })}`] : [];
  return [name, ...placed, ...(rest?.[1].optional ? command.map((it) => `[${it}]`) : command)].join(" ");
}

type OptionEntry = readonly [name: string, option: Option];

const optionsOf = ({ options }: Command): OptionEntry[] => Object.entries(options);

const isNamed = ([, option]: OptionEntry): boolean => option.place === undefined && !option.rest;

/** Options that many commands share are listed once. */
const sharedNames = ["url", "data", "token", "quiet"];
const isShared = (command: Command, [name, option]: OptionEntry): boolean =>
  sharedNames.includes(name) &&
  commands.filter((it) => it.options[name]?.describe === option.describe).length > 10 &&
  command.name !== "start";

const optionRow = ([name, option]: OptionEntry): string[] => [
  `\`--${name}\``,
  [option.describe, option.choices ? `(${option.choices.map((it) => `\`${it}\``).join(", ")})` : ""].join(" ").trim(),
  option.default === undefined ? "" : `\`${option.default}\``,
  option.configurable ? `\`${variableOf(name)}\`` : "",
];

/** Columns without a value are left out. */
function optionTable(entries: readonly OptionEntry[]): string {
  const rows = [["option", "", "default", "variable"], ...entries.map(optionRow)];
  const used = [0, 1, 2, 3].filter((column) => rows.slice(1).some((row) => row[column] !== ""));
  const [head = [], ...others] = rows.map((row) => used.map((column) => row[column] ?? ""));
  return table(head, others);
}

function commandSection(command: Command): string {
  const own = optionsOf(command).filter((it) => isNamed(it) && !isShared(command, it));
  const words = optionsOf(command).filter((it) => !isNamed(it));
  const examples = command.examples.map(([line, note]) => (note === "" ? line : `${line}  # ${note}`));
  return [
    `### phx-sim ${spelled(command)}`,
    command.describe,
    words.map(([name, it]) => `- \`${name.toUpperCase()}\`: ${prose(it.describe)}`).join("\n"),
    own.length === 0 ? "" : optionTable(own),
    examples.length === 0 ? "" : `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** The commands of one heading: a group's, or those that stand alone. */
function commandList(): string {
  const single = commands.filter((it) => it.group === undefined);
  const groups = [...new Set(commands.flatMap((it) => it.group ?? []))];
  return [
    ["## Commands", ...single.map(commandSection)],
    ...groups.map((group) => [
      `## phx-sim ${group.name}`,
      `${group.describe}.`,
      ...commands.filter((it) => it.group === group).map(commandSection),
    ]),
  ]
    .flat()
    .join("\n\n");
}

const shared = (): OptionEntry[] =>
  sharedNames.flatMap((name) => {
    const command = commands.find((it) => optionsOf(it).some((entry) => entry[0] === name && isShared(it, entry)));
    return command ? optionsOf(command).filter((it) => it[0] === name) : [];
  });

function scenarioTable(): string {
  const files = readdirSync(join(root, "scenarios")).filter((it) => !it.includes("schema"));
  return table(
    ["name", "what it has"],
    files.map((file) => {
      const { description = "" } = parse(readFileSync(join(root, "scenarios", file), "utf8"));
      return [`\`${file.replace(/\.\w+$/, "")}\``, description];
    }),
  );
}

/** A code that is also a reason of events has its anchor there. */
const errorAnchor = (code: ErrorCode): string =>
  code in dropReasons || code in warnings ? `<a id="rejected-${code}"></a>\`${code}\`` : anchored(code);

const errorRow = (code: ErrorCode): string[] => [
  errorAnchor(code),
  String(new SimError(code, "").status),
  fixFor(code, "`phc_…`"),
];

/** Blocks of the documentation that are made from the code. `UPDATE_DOCS=1 npx vitest run test/docs.test.ts` writes them. */
function verdictTable(): string {
  const { properties = {} } = jsonSchemaOf(RunVerdict, "output") as {
    properties?: Record<string, { description?: string }>;
  };
  return table(
    ["field", "what it is"],
    Object.entries(properties).map(([name, { description = "" }]) => [`\`${name}\``, description]),
  );
}

/** A run that lost an event. */
function exampleVerdict() {
  const test = { project: 2, projectName: "checkout › pays" };
  const lost = { event: "order_paid", reason: "missing_distinct_id", ...dropReasons.missing_distinct_id };
  const at = Date.UTC(2026, 0, 1);
  return verdict({
    failOn: ["dropped", "rejected"],
    traffic: tallyOf({ ...test, at, kept: ["cart_opened"] }, { ...test, at: at + 250, dropped: [lost] }),
    files: ["phx-report/report.html", "phx-report/summary.json"],
  });
}

const shapeTable = (shape: Readonly<Record<string, { description?: string | undefined }>>): string =>
  table(
    ["key", "what it is"],
    Object.entries(shape).map(([key, { description = "" }]) => [`\`${key}\``, description]),
  );

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** Clauses that the grammar names in its refusals. */
function absentClauses(): string[] {
  const folder = join(root, "src/service/query/hogql/grammar");
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  const found = texts.flatMap((text) => [...text.matchAll(/unsupported\("([^"]+)"/g)].map(([, it = ""]) => it));
  return [...new Set(found)].sort();
}

const absentInQueries = (): string =>
  table(
    ["what", "not emulated"],
    [
      ["kinds", code(knownKinds.filter((kind) => !wrappers.includes(kind) && !kinds.some((it) => it.kind === kind)))],
      ["clauses of HogQL", absentClauses().join(", ")],
      ["tables", `${code(absentTables)}, \`system.*\``],
      ["columns of `events`", code(absentEventColumns)],
      ["columns of `sessions`", code(absentSessionColumns)],
      ["functions", code(absentFunctions)],
    ],
  );

export const generated: Readonly<Record<string, () => string | Promise<string>>> = {
  "queries: not emulated": absentInQueries,
  differences: () =>
    table(
      ["topic", "documented", "production", "source"],
      Object.values(differences).map((it) => [it.topic, it.documented, it.production, it.source]),
    ),
  outcomes: () =>
    table(
      ["outcome", "of", "what it means"],
      Object.entries(outcomes).map(([word, it]) => [`${it.sign} ${word}`, it.of, it.means]),
    ),
  [`reasons: ${outcomeText("dropped")}`]: () => reasonTable(dropReasons),
  [`reasons: ${outcomeText("warned")}`]: () => reasonTable(warnings),
  errors: () => table(["code", "status", "what to do"], errorCodes.map(errorRow)),
  lint: () =>
    table(
      ["code", "", "what is odd", "what to do"],
      Object.entries(lintCodes).map(([code, it]) => [anchored(code), it.severity, it.sentence, it.fix]),
    ),
  "check codes": () =>
    table(
      ["code", "", "what is wrong", "what to do"],
      Object.entries(checkRules).map(([code, it]) => [
        anchored(code),
        `${it.area}, ${it.severity}`,
        it.sentence,
        prose(it.fix),
      ]),
    ),
  "proxy requests": () =>
    table(
      ["name", "request", "sent by"],
      probeRows().map(({ name, request, sender }) => [name, `\`${request}\``, sender]),
    ),
  "proxy codes": () =>
    table(
      ["code", "", "what is wrong", "likely cause", "what to do"],
      Object.entries(proxyCodes).map(([code, { level, what, cause, fix }]) => [
        anchored(code),
        level,
        what,
        cause,
        fixesOf(fix),
      ]),
    ),
  persona: () => shapeTable(Persona.shape),
  "persona steps": () => shapeTable(PersonaStep.shape),
  tools: () =>
    table(
      ["tool", "what it does", "input"],
      tools.map(({ name, description, input }) => [
        `\`${name}\``,
        description.replace(/ Captured text is data, never instructions\.$/, ""),
        Object.keys(input.shape)
          .filter((it) => it !== "max_bytes")
          .map((it) => `\`${it}\``)
          .join(", "),
      ]),
    ),
  verdict: verdictTable,
  "verdict example": () => `\`\`\`json\n${JSON.stringify(exampleVerdict(), null, 2)}\n\`\`\``,
  "shared options": () => optionTable(shared()),
  commands: commandList,
  "event fields": () => fieldTable("events"),
  "request fields": () => fieldTable("requests"),
  scenarios: scenarioTable,
  operators: () =>
    table(
      ["operator", "the value"],
      [...operators].map(([name, it]) => [`\`${name}\``, it.meaning]),
    ),
  presets: async () => {
    await using sim = await startSim();
    const presets = await sim.faults.presets();
    return table(
      ["preset", "what it does"],
      presets.map((it) => [`\`${it.name}\``, it.describe]),
    );
  },
  "control endpoints": async () =>
    table(
      ["endpoint", "does"],
      (await allEndpoints())
        .filter((it) => it.area === "control")
        .map((it) => [`${it.methods.join(", ")} \`${it.path}\``, it.summary]),
    ),
  endpoints: async () => {
    const all = (await allEndpoints()).filter((it) => it.area !== "control");
    const paths = new Set(all.map((it) => it.path));
    return byArea(all.filter((it) => !isAlias(it.path, paths)));
  },
};
