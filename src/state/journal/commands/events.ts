import { setTimeout as pause } from "node:timers/promises";
import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { counted } from "../../../kernel/base/text.ts";
import { queryText } from "../../../kernel/call/call.ts";
import { callSim, RefusedCall, trySim } from "../../../kernel/command/ask-sim.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import { type Command, type CommandEnd, command, type Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { findRunning, type Running, whereOptions } from "../../../kernel/command/running-sim.ts";
import type { Settings } from "../../../kernel/command/settings.ts";
import { optionsOf } from "../../../kernel/command/shape-options.ts";
import { untilSignal } from "../../../kernel/command/signals.ts";
import { parametersIn, thinCommand } from "../../../kernel/command/thin-command.ts";
import { ClearQuery, EventListQuery } from "../query-shapes.ts";
import type { EventPage, StoredEvent } from "../stored-event.ts";
import { eventLine, eventLines } from "./event-lines.ts";
import { checkedFilter, readPattern } from "./filter-option.ts";

const options = optionsOf(EventListQuery.omit({ until: true, order: true, wait_ms: true }));
const { limit, filter: filterText, ...plain } = options;

/** May be empty: no filter. */
const filter = { ...filterText, kind: "word" } as const;

const filters = { ...plain, where: { ...plain.where, kind: "word" } } as const;

const json = { kind: "switch", describe: "One JSON object per line" } as const;

const common = { ...filters, ...whereOptions, json } as const;

const tailOptions = { ...common, filter } as const;

const listOptions = { ...tailOptions, limit: { ...limit, describe: "The newest N" } } as const;

const waitOptions = {
  ...common,
  count: { kind: "count", describe: "Number of events to wait for", default: "1" },
  where: { ...filters.where, parameter: "match" },
  timeout: { kind: "duration", parameter: "timeout_ms", describe: "How long to wait, e.g. 4s, 500ms", default: "4s" },
} as const;

type Common = Settings<typeof common>;
type Tail = Settings<typeof tailOptions>;

const isMixed = ({ info }: Running, { values }: Common): boolean =>
  values.project === undefined && Array.isArray(info.projects) && info.projects.length > 1;

const printer = (running: Running, settings: Common, shell: Shell) => {
  const mixed = isMixed(running, settings);
  return (event: StoredEvent): string =>
    settings.values.json ? JSON.stringify(event) : eventLine(event, mixed, shell.outStyle);
};

function queryOf({ values }: Tail) {
  const pattern = readPattern(values.where, "--where");
  return {
    ...parametersIn(filters, values),
    where: pattern && JSON.stringify(pattern),
    filter: checkedFilter(values.filter),
  };
}

async function list(settings: Settings<typeof listOptions>, shell: Shell) {
  const query = queryOf(settings);
  const { limit } = settings.values;
  const running = await findRunning(settings, shell);
  const path = `events${queryText({ ...query, limit, order: "desc" })}`;
  const { events, more } = await callSim<EventPage>(running, "GET", path);
  shell.out.say(...events.reverse().map(printer(running, settings, shell)));
  if (more) shell.err.say(`phx-sim: older ones are not shown; --limit N shows the newest N`);
  else if (events.length === 0 && !settings.values.json) shell.err.say("phx-sim: no events");
  return "ok" as const;
}

type Query = Parameters<typeof queryText>[0];

/** The sim delays an empty answer by up to this time, ms. */
const holdMs = 20_000;

const breathMs = 500;

/** Passes on events from `query.since` (default: now) to a signal or the output's end. @throws Failure no_sim if the sim ends */
async function followEvents(
  running: Running,
  query: Query,
  pass: (events: readonly StoredEvent[]) => void,
): Promise<CommandEnd> {
  const ended = new AbortController();
  const signal = untilSignal(process, (again) => process.kill(process.pid, again));
  const unread = new Promise<"ok">((resolve) => {
    process.stdout.on("error", () => resolve("ok"));
  });
  const followed = follow(running, query, pass, ended.signal);
  try {
    return await Promise.race([signal, unread, followed]);
  } finally {
    ended.abort();
  }
}

async function follow(
  running: Running,
  query: Query,
  pass: (events: readonly StoredEvent[]) => void,
  ended: AbortSignal,
): Promise<never> {
  let since = Number(query.since ?? running.info.cursor ?? 0);
  for (;;) {
    const asked = performance.now();
    const page = await pageAfter(running, { ...query, since, wait_ms: holdMs });
    if (ended.aborted) return new Promise(() => {});
    since = page.cursor;
    if (page.events.length > 0) pass(page.events);
    else if (performance.now() - asked < breathMs) await pause(breathMs);
  }
}

async function pageAfter(running: Running, query: Query): Promise<EventPage> {
  try {
    return await callSim<EventPage>(running, "GET", `events${queryText(query)}`, undefined, 2 * holdMs);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "no_sim") throw error;
    throw new Failure("no_sim", `the sim at ${running.url} is gone`, error);
  }
}

async function tail(settings: Tail, shell: Shell) {
  const query = queryOf(settings);
  const running = await findRunning(settings, shell);
  const line = printer(running, settings, shell);
  return followEvents(running, query, (events) => {
    shell.out.say(...events.map(line));
    shell.out.flush();
  });
}

/** The pattern, with --event and --distinct-id. @throws Failure usage if --where has them, too */
function matchOf({ values }: Common): JsonObject {
  const given = readPattern(values.where, "--where") ?? {};
  const literals = { event: values.event, distinct_id: values["distinct-id"] };
  const set = Object.entries(literals).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const twice = set.find(([name]) => Object.hasOwn(given, name))?.[0];
  if (twice === undefined) return Object.fromEntries([...Object.entries(given), ...set]);
  const option = twice.replace("_", "-");
  throw new Failure("usage", `--${option} and "${twice}" in --where say the same; give one of them`);
}

const graceMs = 10_000;

async function wait(settings: Settings<typeof waitOptions>, shell: Shell) {
  const { values } = settings;
  const request = {
    match: matchOf(settings),
    count: values.count,
    project: values.project,
    since: values.since,
    outcome: values.outcome,
    timeout_ms: values.timeout,
  };
  const running = await findRunning(settings, shell);
  const { status, answer } = await trySim(running, "POST", "events/wait", request, values.timeout + graceMs);
  const body: JsonObject = isObject(answer) ? answer : {};
  if (status >= 300) throw isObject(body.report) ? timedOut(body.report) : new RefusedCall(status, answer);
  const events = (body as { events?: StoredEvent[] }).events ?? [];
  shell.out.say(...events.map(printer(running, settings, shell)));
  return "ok" as const;
}

function timedOut({ text }: JsonObject): Failure {
  const lines = typeof text === "string" ? text.split("\n") : ["no event came in time"];
  return new Failure("failed", lines.map((line) => clean(line, 1000)).join("\n"));
}

export const eventCommands: readonly Command[] = [
  command({
    name: "events list",
    describe: "List what was captured, oldest first",
    options: listOptions,
    examples: [
      ["phx-sim events list --event signup --json | jq .properties", "one JSON object per line"],
      ["phx-sim events list --outcome dropped", "what got lost, and why"],
      ["phx-sim events list --filter 'prop.amount:>10 since:5m'", "as the page's filter box takes it"],
    ],
    run: list,
  }),
  thinCommand({
    name: "events show",
    describe: "Show an event: its outcome, its properties, the request that carried it",
    options: { number: { kind: "count", describe: "The event's number", place: 1 } },
    examples: [["phx-sim events show 12", "the numbers are those of phx-sim events list"]],
    call: "GET events/:number",
    lines: eventLines,
  }),
  command({
    name: "events tail",
    describe: "Print events as they come, until interrupted",
    options: tailOptions,
    examples: [
      ["phx-sim events tail", "from now on"],
      ["phx-sim events tail --since 0", "also all there are"],
      ["phx-sim events tail --filter 'route:/batch -event:$pageview'", "only what fits"],
    ],
    run: tail,
  }),
  command({
    name: "events wait",
    describe: "Wait until events arrive; fail with a report if they do not",
    options: waitOptions,
    examples: [["phx-sim events wait --event signup --timeout 10s", "in a script: go on once it was captured"]],
    confirms: true,
    run: wait,
  }),
  thinCommand({
    name: "events clear",
    describe: "Clear the events; persons stay, and numbering continues",
    options: optionsOf(ClearQuery),
    examples: [
      ["phx-sim events clear --project 2", "of one project"],
      ["phx-sim events clear --compact", "and free the space on disk"],
    ],
    call: "DELETE events",
    lines: ({ cleared }: { cleared: number }) => [`cleared ${counted(cleared, "event")}`],
  }),
];
