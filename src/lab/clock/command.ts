import { clean } from "../../kernel/command/clean-text.ts";
import type { Command, CommandGroup } from "../../kernel/command/command.ts";
import { thinCommand, thinOptions } from "../../kernel/command/thin-command.ts";
import type { ClockFacts, Happened } from "./client.ts";

const group: CommandGroup = { name: "clock", describe: "The sim's time: set, advance, freeze and resume it" };

const time = { describe: "A time in ISO 8601 (UTC if it names no zone), or real for the machine's" } as const;

const setOptions = { time: { ...time, place: 1 }, ...thinOptions } as const;
const freezeOptions = {
  at: { ...time, describe: "Time to freeze at; default: the current time" },
  ...thinOptions,
} as const;
const advanceOptions = {
  by: { describe: "How far, e.g. 1h, 90s, 1d12h (units: ms s m h d w)", place: 1 },
  ...thinOptions,
} as const;

/** Exports may run meanwhile; the command waits at most this long, ms. */
const advanceMs = 300_000;

interface Answer extends ClockFacts {
  happened?: readonly Happened[];
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

const lines = (answer: Answer) => [stateLine(answer)];

/** The commands `phx-sim clock …`. */
export const clockCommands: readonly Command[] = [
  thinCommand({
    name: "clock now",
    group,
    describe: "Print the sim's time",
    options: thinOptions,
    examples: [["phx-sim clock now --json", "also whether it is frozen, and when the next work is due"]],
    call: "GET clock",
    lines: ({ now }: Answer) => [clean(now)],
  }),
  thinCommand({
    name: "clock set",
    group,
    describe: "Set the time, and perform no work that is due",
    options: setOptions,
    examples: [
      ["phx-sim clock set 2025-06-01T12:00:00Z", "noon in June"],
      ["phx-sim clock set real", "back to the machine's time"],
    ],
    confirms: true,
    call: "PUT clock",
    sends: ({ time }) => ({ now: time }),
    hints: true,
    lines,
  }),
  thinCommand({
    name: "clock advance",
    group,
    describe: "Advance the time, and list the work that became due",
    options: advanceOptions,
    examples: [["phx-sim clock advance 1h", "runs the exports of an hour"]],
    confirms: true,
    call: "POST clock/advance",
    timeoutMs: advanceMs,
    hints: true,
    lines: (answer: Answer) => [...(answer.happened ?? []).map(happenedLine), stateLine(answer)],
  }),
  thinCommand({
    name: "clock freeze",
    group,
    describe: "Stop the clock",
    options: freezeOptions,
    examples: [["phx-sim clock freeze --at 2025-06-01", "at a time"]],
    confirms: true,
    call: "PUT clock",
    sends: ({ at }) => ({ now: at, frozen: true }),
    hints: true,
    lines,
  }),
  thinCommand({
    name: "clock resume",
    group,
    describe: "Let the clock run from its current time",
    options: thinOptions,
    examples: [["phx-sim clock resume", "after a freeze"]],
    confirms: true,
    call: "PUT clock",
    sends: () => ({ frozen: false }),
    hints: true,
    lines,
  }),
];
