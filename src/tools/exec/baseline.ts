import { didYouMean } from "../../kernel/base/nearest.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { runExec } from "./exec.ts";
import { execOptions } from "./exec-options.ts";

const baseline = {
  kind: "file",
  describe: "The baseline (default: analytics.baseline.ndjson in this folder)",
  configurable: true,
} as const;

const { "baseline-complete": _, ...runOptions } = execOptions;

const updateOptions = {
  ...runOptions,
  baseline,
  from: {
    kind: "file",
    describe: "Run no command, and take the record of a run: a report's analytics.baseline.ndjson",
  },
  prune: { kind: "switch", describe: "Remove the tests that did not run" },
  sdk: {
    kind: "switch",
    describe: "Also record the SDKs' own events and properties; needs --prune in an existing file",
  },
  "no-order": { kind: "switch", describe: "Do not record the order of events; needs --prune in an existing file" },
  command: { ...runOptions.command, optional: true },
} as const;

const json = { kind: "switch", describe: "Print the result as one JSON line" } as const;

const diffOptions = {
  before: { kind: "file", describe: "The earlier baseline", place: 1 },
  after: {
    kind: "file",
    describe: "The later one (default: analytics.baseline.ndjson in this folder)",
    place: 2,
    optional: true,
  },
  complete: { kind: "switch", describe: "A test that only the first has is a change" },
  markdown: { kind: "switch", describe: "Print Markdown, for a comment" },
  json: { ...json, excludes: "markdown" },
} as const;

const showOptions = {
  test: { kind: "word", describe: "Name of a test, or a part of names", place: 1, optional: true },
  baseline,
  json,
} as const;

async function update(settings: Settings<typeof updateOptions>, shell: Shell) {
  const { values, origins } = settings;
  const { fileOf, updateFrom, updatingRun } = await import("../baseline/command-run.ts");
  const isSet = (name: "sdk" | "no-order"): boolean => origins[name].source !== "default";
  const options = {
    file: fileOf(values.baseline, shell),
    prune: values.prune,
    sdk: isSet("sdk") ? values.sdk : undefined,
    order: isSet("no-order") ? !values["no-order"] : undefined,
  };
  const hasCommand = values.command.length > 0;
  if (hasCommand === (values.from !== undefined))
    throw new Failure("usage", "baseline update needs a command after --, or --from FILE");
  if (values.from !== undefined) {
    const lines = await updateFrom(values.from, options, shell);
    if (!values.quiet) shell.err.say(...lines);
    return "ok" as const;
  }
  return runExec(settings, shell, () => updatingRun(options, shell));
}

async function diff({ values }: Settings<typeof diffOptions>, shell: Shell) {
  const { baselineAt, fileOf } = await import("../baseline/command-run.ts");
  const { baselineHeadline, baselineLines, baselineMarkdown, changesIn, compareBaselines } = await import(
    "../baseline/compare.ts"
  );
  const before = await baselineAt(values.before, shell);
  const after = await baselineAt(fileOf(values.after, shell), shell);
  const result = compareBaselines(before, after, { complete: values.complete });
  if (values.json) shell.out.say(JSON.stringify(result));
  else if (values.markdown) shell.out.say(baselineMarkdown(result).trimEnd());
  else shell.out.say(baselineHeadline(result), ...baselineLines(result));
  return changesIn(result) === 0 ? ("ok" as const) : 1;
}

async function show({ values }: Settings<typeof showOptions>, shell: Shell) {
  const { baselineAt, fileOf } = await import("../baseline/command-run.ts");
  const { shownBaseline } = await import("../baseline/compare.ts");
  const found = await baselineAt(fileOf(values.baseline, shell), shell);
  const names = [...found.tests.keys()];
  const { test } = values;
  const exact = names.filter((it) => it === test);
  const chosen = exact.length > 0 ? exact : names.filter((it) => it.includes(test ?? ""));
  if (chosen.length === 0 && test !== undefined)
    throw new Failure("failed", `the baseline has no test "${clean(test)}"${didYouMean(test, names)}`);
  const part = { ...found, tests: new Map([...found.tests].filter(([name]) => chosen.includes(name))) };
  if (values.json) {
    const { writeBaseline } = await import("../baseline/file.ts");
    const [, ...lines] = writeBaseline(part).trimEnd().split("\n");
    shell.out.say(`[${lines.join(",")}]`);
  } else shell.out.say(...shownBaseline(part));
  return "ok" as const;
}

export const baselineCommands: readonly Command[] = [
  command({
    name: "baseline update",
    describe: "Run a command, and write what its tests sent to the baseline",
    options: updateOptions,
    examples: [
      ["phx-sim baseline update -- npm test", "analytics.baseline.ndjson; tests that did not run stay as they are"],
      ["phx-sim baseline update --prune -- npm test", "after all tests: those that are gone are removed"],
      ["phx-sim baseline update --from phx-report/analytics.baseline.ndjson", "from the report of a run in CI"],
    ],
    run: update,
  }),
  command({
    name: "baseline diff",
    describe: "Compare two baselines; exit code 1 if they differ",
    options: diffOptions,
    examples: [["phx-sim baseline diff main.ndjson", "after git show main:analytics.baseline.ndjson > main.ndjson"]],
    run: diff,
  }),
  command({
    name: "baseline show",
    describe: "Show what each test of a baseline sends",
    options: showOptions,
    examples: [["phx-sim baseline show 'a signup is tracked'", "one test"]],
    run: show,
  }),
];
