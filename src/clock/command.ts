import { callSim } from "../cli/ask-sim.ts";
import { clean } from "../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../cli/command.ts";
import type { Options } from "../cli/options.ts";
import { findRunning, whereOptions } from "../cli/running-sim.ts";
import type { Settings } from "../cli/settings.ts";
import type { ClockFacts, Happened } from "../index.ts";

const group: CommandGroup = {
  name: "clock",
  describe: "The sim's time: set, advance, freeze and resume it",
};

const common = {
  ...whereOptions,
  json: { kind: "switch", describe: "Print the answer of the control API", flagOnly: true },
} as const;

const time = {
  kind: "text",
  describe: "A time in ISO 8601 (UTC if it names no zone), or real for the machine's",
  flagOnly: true,
} as const;

const setOptions = { time: { ...time, place: 1 }, ...common } as const;
const freezeOptions = {
  at: { ...time, describe: "Time to freeze at; default: the current time" },
  ...common,
} as const;
const advanceOptions = {
  by: {
    kind: "text",
    describe: "How far, e.g. 1h, 90s, 1d12h (units: ms s m h d w)",
    flagOnly: true,
    place: 1,
  },
  ...common,
} as const;

/** Exports may run meanwhile; the command waits at most this long, ms. */
const advanceMs = 300_000;

interface Answer extends ClockFacts {
  hint?: string | null;
  happened?: readonly Happened[];
}

interface ClockCall {
  method: string;
  path: string;
  body?: unknown;
  timeoutMs?: number;
}

async function ask(
  where: Settings<typeof common>,
  shell: Shell,
  request: ClockCall,
  lines: (it: Answer) => string[],
) {
  const running = await findRunning(where, shell.cwd);
  const { method, path, body, timeoutMs } = request;
  const answer = await callSim<Answer>(running, method, path, body, timeoutMs);
  if (typeof answer.hint === "string") shell.err.say(`phx-sim: ${clean(answer.hint)}`);
  shell.out.say(...(where.values.json ? [JSON.stringify(answer, null, 2)] : lines(answer)));
  return "ok" as const;
}

const stateLine = ({ now, frozen, real }: Answer): string => {
  const how = frozen ? "frozen" : real ? "the machine's time" : "running";
  return `the clock shows ${clean(now)}: ${how}`;
};

/** A line for each performed work; the facts are the sim's own. */
const happenedLine = ({ at, kind, ...facts }: Happened): string => {
  const shown = Object.entries(facts).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return clean([at, kind, ...shown].join("  "), 1000);
};

const advancedLines = (answer: Answer): string[] => [
  ...(answer.happened ?? []).map(happenedLine),
  stateLine(answer),
];

const clockCommand = <const O extends typeof common>(
  name: string,
  describe: string,
  options: O,
  examples: Command["examples"],
  requestOf: (values: Settings<O>["values"]) => ClockCall,
  lines = (answer: Answer) => [stateLine(answer)],
): Command =>
  command({
    name: `clock ${name}`,
    group,
    describe,
    options: options as O & Options,
    examples,
    ...(name !== "now" && { confirms: true as const }),
    run: (settings, shell) => ask(settings, shell, requestOf(settings.values), lines),
  });

const put = (body: unknown): ClockCall => ({ method: "PUT", path: "clock", body });

/** The commands `phx-sim clock …`. */
export const clockCommands: readonly Command[] = [
  clockCommand(
    "now",
    "Print the sim's time",
    common,
    [["phx-sim clock now --json", "also whether it is frozen, and when the next work is due"]],
    () => ({ method: "GET", path: "clock" }),
    ({ now }) => [clean(now)],
  ),
  clockCommand(
    "set",
    "Set the time, and perform no work that is due",
    setOptions,
    [
      ["phx-sim clock set 2025-06-01T12:00:00Z", "noon in June"],
      ["phx-sim clock set real", "back to the machine's time"],
    ],
    (values) => put({ now: values.time }),
  ),
  clockCommand(
    "advance",
    "Advance the time, and list the work that became due",
    advanceOptions,
    [["phx-sim clock advance 1h", "runs the exports of an hour"]],
    ({ by }) => ({ method: "POST", path: "clock/advance", body: { by }, timeoutMs: advanceMs }),
    advancedLines,
  ),
  clockCommand(
    "freeze",
    "Stop the clock",
    freezeOptions,
    [["phx-sim clock freeze --at 2025-06-01", "at a time"]],
    ({ at }) => put({ ...(at !== undefined && { now: at }), frozen: true }),
  ),
  clockCommand(
    "resume",
    "Let the clock run from its current time",
    common,
    [["phx-sim clock resume", "after a freeze"]],
    () => put({ frozen: false }),
  ),
];
