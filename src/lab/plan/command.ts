import { existsSync } from "node:fs";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { type JunitCase, junitReport } from "../../kernel/command/junit.ts";
import { written } from "../../kernel/command/result-file.ts";
import { findRunning, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { fileEvents, simEvents } from "./command-events.ts";
import type { Plan, PlanFile, PlannableEvent, PlanResult, Violation } from "./plan.ts";

const project = { kind: "count", describe: "Only the project with this number" } as const;
const events = {
  kind: "file",
  describe: "Take the events from this NDJSON file, such as a report's events.ndjson",
} as const;
const out = { kind: "file", describe: "File to write; default: stdout" } as const;
const force = { kind: "switch", describe: "Replace the file if it exists" } as const;
const file = {
  kind: "file",
  describe: "The plan (default: events.plan.json here or above)",
  place: 1,
  optional: true,
} as const;

const inferOptions = {
  project,
  event: { describe: "Only the event of this name" },
  events,
  title: { describe: "The plan's title" },
  merge: { kind: "file", describe: "A plan to extend: only missing entries are added; its comments are lost" },
  out,
  force,
  json: { kind: "switch", describe: "With --out: print the name of the file as JSON; a plan is always JSON" },
  ...whereOptions,
} as const;

const checkOptions = {
  file,
  project,
  since: { kind: "count", describe: "Only events after this cursor" },
  events,
  complete: { kind: "switch", describe: "Exit 1 also when a planned event was never captured" },
  json: { kind: "switch", describe: "Print the result as one JSON line" },
  junit: { kind: "file", describe: "File to write the result to as JUnit XML" },
  ...whereOptions,
} as const;

const json = { kind: "switch", describe: "Print JSON: the result, or with --out the name of the file" } as const;

const typesOptions = { file, out, force, json } as const;

interface From extends Settings<typeof whereOptions & { project: typeof project; events: typeof events }> {}

/** The path of the schema of plan files in an app, for its editor. */
const shippedSchema = "./node_modules/phx-sim/docs/reference/plan.schema.json";

async function eventsFor(
  settings: From,
  shell: Shell,
  which: Omit<Parameters<typeof simEvents>[1], "project">,
): Promise<AsyncIterable<PlannableEvent>> {
  const { events, project } = settings.values;
  if (events !== undefined) return fileEvents(events);
  return simEvents(await findRunning(settings, shell), { ...which, project });
}

const shown = (path: string, folder: string): string => clean(shortened(path, folder));

async function reported<T>(reading: () => Promise<T>, shell: Shell): Promise<T> {
  const { PlanError, planProblemLines } = await import("./plan.ts");
  try {
    return await reading();
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    shell.err.say(...planProblemLines(error.problems, shell.cwd));
    throw new Failure("usage", `${counted(error.problems.length, "problem")} in the plan`, error);
  }
}

async function read(path: string, shell: Shell): Promise<Plan> {
  const { readPlan } = await import("./read-plan.ts");
  return reported(() => readPlan(path), shell);
}

async function theFile(named: string | undefined, shell: Shell): Promise<string> {
  if (named !== undefined) return named;
  const { findPlan, planName } = await import("./read-plan.ts");
  const found = await findPlan(shell.cwd);
  if (found !== undefined) return found;
  throw new Failure(
    "usage",
    `there is no ${planName} in ${clean(shell.cwd)} or above; give a file, or make one: phx-sim plan infer --out ${planName}`,
  );
}

/** Writes to stdout, or to a file that must not exist yet. */
async function deliver(
  text: string,
  { out: path, force, json }: { out: string | undefined; force: boolean; json: boolean },
  shell: Shell,
  asJson = text,
): Promise<"ok"> {
  if (path === undefined) {
    shell.out.say((json ? asJson : text).trimEnd());
    return "ok";
  }
  await write(path, text, force, shell);
  if (json) shell.out.say(JSON.stringify({ file: path }));
  else shell.err.say(`${shown(path, shell.cwd)} is written`);
  return "ok";
}

async function write(path: string, text: string, mayReplace: boolean, shell: Shell): Promise<void> {
  if (!mayReplace && existsSync(path))
    throw new Failure("failed", `${shown(path, shell.cwd)} already exists; --force replaces it`);
  await written(shown(path, shell.cwd), () => writeWhole(path, [text], 0o666));
}

async function infer(settings: Settings<typeof inferOptions>, shell: Shell) {
  const { event, title, merge } = settings.values;
  // Mistakes in the plan are reported before the sim is asked.
  const first = merge === undefined ? undefined : await contentOf(merge, shell);
  const { createInference, mergePlans } = await import("./infer-plan.ts");
  const inference = createInference({ ...(title && { title }), ...(event && { event }) });
  for await (const it of await eventsFor(settings, shell, { event })) inference.add(it);
  if (inference.added === 0) throw new Failure("failed", "there are no events to infer a plan from");
  if (inference.leftOut > 0)
    shell.err.say(`phx-sim: ${counted(inference.leftOut, "event")} left out: too many different names`);
  const inferred = inference.plan();
  const plan = first ? mergePlans(first, inferred) : { $schema: shippedSchema, ...inferred };
  return deliver(`${JSON.stringify(plan, null, 2)}\n`, settings.values, shell);
}

const mostJunitLines = 50;

/** A test case for each event, planned or not; a planned event that was never captured is skipped. */
function junitOf({ violations, seen, unseen }: PlanResult, sentenceOf: (it: Violation) => string): string {
  const names = [...new Set([...seen, ...unseen, ...violations.map(({ event }) => event)])];
  const byEvent = new Map(names.map((name): [string, Violation[]] => [name, []]));
  for (const it of violations) byEvent.get(it.event)?.push(it);
  const cases = names.map((name): JunitCase => {
    const own = (byEvent.get(name) ?? []).slice(0, mostJunitLines);
    const [first] = own;
    if (first) {
      const lines = own.map((it) => `${sentenceOf(it)}  #${it.seq}`);
      return { name, failure: { type: first.kind, message: sentenceOf(first), lines } };
    }
    return unseen.includes(name) ? { name, skipped: "never seen" } : { name };
  });
  return junitReport("tracking plan", cases);
}

async function contentOf(path: string, shell: Shell): Promise<PlanFile> {
  const { planContent } = await import("./read-plan.ts");
  return reported(() => planContent(path), shell);
}

async function check(settings: Settings<typeof checkOptions>, shell: Shell) {
  const { values } = settings;
  const path = await theFile(values.file, shell);
  const plan = await read(path, shell);
  const { checkPlan, sentenceOf } = await import("./check-plan.ts");
  const { text, ...result } = await checkPlan(plan, await eventsFor(settings, shell, { since: values.since }));
  const misses = values.complete ? result.unseen.length : 0;
  const ok = result.total === 0 && misses === 0;
  if (values.junit !== undefined) await write(values.junit, junitOf(result, sentenceOf), true, shell);
  if (values.json) shell.out.say(JSON.stringify({ ok, plan: path, ...result }));
  else shell.out.say(text);
  if (ok) return "ok" as const;
  const parts = [
    ...(result.total > 0 ? [counted(result.total, "violation")] : []),
    ...(misses > 0 ? [`${counted(misses, "planned event")} never seen`] : []),
  ];
  throw new Failure("failed", `${parts.join(", ")} (${shown(path, shell.cwd)})`);
}

async function types({ values }: Settings<typeof typesOptions>, shell: Shell) {
  const plan = await read(await theFile(values.file, shell), shell);
  const { planTypes } = await import("./plan-types.ts");
  const text = planTypes(plan);
  return deliver(text, values, shell, JSON.stringify({ types: text }));
}

const schemaOptions = { json: { kind: "switch", describe: "No effect: the output is always JSON" } } as const;

async function schema(_: Settings<typeof schemaOptions>, shell: Shell) {
  const { planSchemaText } = await import("./plan-schema.ts");
  shell.out.say(planSchemaText().trimEnd());
  return "ok" as const;
}

export const planCommands: readonly Command[] = [
  command({
    name: "plan infer",
    describe: "Make a plan from the captured events",
    options: inferOptions,
    examples: [
      ["phx-sim plan infer --out events.plan.json", "a first plan"],
      ["phx-sim plan infer --merge events.plan.json --out events.plan.json --force", "adds what is new"],
    ],
    run: infer,
  }),
  command({
    name: "plan check",
    describe: "Compare the captured events with the plan",
    options: checkOptions,
    examples: [
      ["phx-sim plan check", "exit code 1 and a line for each violation, and which events never came"],
      ["phx-sim plan check --events report/events.ndjson --junit plan.xml", "after phx-sim exec, in CI"],
    ],
    confirms: true,
    run: check,
  }),
  command({
    name: "plan types",
    describe: "Write the plan's events as TypeScript types",
    options: typesOptions,
    examples: [["phx-sim plan types --out src/events.ts", "Events, CapturedEvent, a typed capture"]],
    run: types,
  }),
  command({
    name: "plan schema",
    describe: "Print the JSON Schema of plan files",
    options: schemaOptions,
    examples: [["phx-sim plan schema > plan.schema.json", "for an editor that cannot find ours"]],
    run: schema,
  }),
];
