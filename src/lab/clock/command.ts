import { clean } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import { thinCommand } from "../../kernel/command/thin-command.ts";
import type { ClockFacts, Happened } from "./client.ts";

const time = "A time in ISO 8601 (UTC if it names no zone), or real for the machine's";

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

export const clockCommands: readonly Command[] = [
  thinCommand({
    name: "clock now",
    describe: "Print the sim's time",
    examples: [["phx-sim clock now --json", "also whether it is frozen, and when the next work is due"]],
    call: "GET clock",
    lines: ({ now }: Answer) => [clean(now)],
  }),
  thinCommand({
    name: "clock set",
    describe: "Set the time, and perform no work that is due",
    options: { time: { describe: time, parameter: "now", place: 1 } },
    examples: [
      ["phx-sim clock set 2025-06-01T12:00:00Z", "noon in June"],
      ["phx-sim clock set real", "back to the machine's time"],
    ],
    call: "PUT clock",
    lines,
  }),
  thinCommand({
    name: "clock advance",
    describe: "Advance the time, and list the work that became due",
    options: { by: { describe: "How far, e.g. 1h, 90s, 1d12h (units: ms s m h d w)", place: 1 } },
    examples: [["phx-sim clock advance 1h", "runs the exports of an hour"]],
    call: "POST clock/advance",
    timeoutMs: advanceMs,
    lines: (answer: Answer) => [...(answer.happened ?? []).map(happenedLine), stateLine(answer)],
  }),
  thinCommand({
    name: "clock freeze",
    describe: "Stop the clock",
    options: { at: { describe: "Time to freeze at; default: the current time", parameter: "now" } },
    examples: [["phx-sim clock freeze --at 2025-06-01", "at a time"]],
    call: "PUT clock",
    sends: () => ({ frozen: true }),
    lines,
  }),
  thinCommand({
    name: "clock resume",
    describe: "Let the clock run from its current time",
    examples: [["phx-sim clock resume", "after a freeze"]],
    call: "PUT clock",
    sends: () => ({ frozen: false }),
    lines,
  }),
];
