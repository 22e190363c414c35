import { counted, times } from "../../../kernel/base/text.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Style } from "../../../kernel/command/style.ts";
import type { LoadedTape, Tapes } from "../client.ts";
import { targetOf } from "../format/exchange.ts";

/** What was used of the tape that answered, and what to do when no request reached it; null: none answered. */
export type Played = (Pick<LoadedTape, "name" | "on_miss" | "ledger"> & { readonly advice?: string }) | null;

interface Replayer {
  readonly url: string;
  readonly tapes: Pick<Tapes, "get">;
  isReplaying(): boolean;
}

/** Asks only if a tape answers, as this loads the control API. @param isRerouted undefined if there is no command */
export async function replayed(sim: Replayer, isRerouted?: boolean): Promise<Played> {
  const tape = sim.isReplaying() ? await sim.tapes.get().catch(() => null) : null;
  if (tape === null || tape.ledger.requests > 0) return tape;
  return { ...tape, advice: adviceFor(sim.url, tape.name, isRerouted) };
}

function adviceFor(url: string, name: string, isRerouted: boolean | undefined): string {
  if (isRerouted === true)
    return "no request reached it, although --reroute is on: name the app's host with --reroute-host, if it is not posthog.com";
  const how = isRerouted === false ? "add --reroute" : `run it with phx-sim replay ${name} --reroute -- COMMAND`;
  return `no request reached it: the app's host must be ${url}; if the host is hard-coded, ${how}`;
}

/** Requests that were answered with an error because the tape has no response for them. */
export const missedOf = (played: Played | undefined): number =>
  played?.on_miss === "fail" ? played.ledger.miss_count : 0;

const most = 10;
const mostPaths = 3;

type Ledger = LoadedTape["ledger"];
type Miss = Ledger["misses"][number];
type Nearest = Miss["nearest"][number];
type Exchange = Ledger["unused"][number];

function nearestLine({ i, method, url, differing }: Nearest): string {
  const paths = differing
    .slice(0, mostPaths)
    .map(({ path, recorded, asked }) => `${clean(path, 120)}: ${clean(recorded, 80)} → ${clean(asked, 80)}`);
  const more = differing.length > mostPaths ? `; … and ${differing.length - mostPaths} more` : "";
  const shown = paths.length === 0 ? "" : `  ${paths.join("; ")}${more}`;
  return `    nearest #${i} ${clean(method, 20)} ${clean(targetOf(url), 120)}${shown}`;
}

const missedLines = (style: Style) => (miss: Miss) => [
  `  ${style.bad("missed")} ${clean(miss.method, 20)} ${clean(miss.target, 120)}${times(miss.times)}`,
  ...miss.nearest.slice(0, 1).map(nearestLine),
];

const named = ({ i, method, url }: Exchange): string => `#${i} ${clean(method, 20)} ${clean(targetOf(url), 120)}`;

const rest = (all: number, what: string): string[] =>
  all > most ? [`  … and ${all - most} more ${what} (GET /__sim/tapes)`] : [];

/** Requests that capture are answered by the emulator; what counts of them is their events. */
function captureLines({ captures, events: { recorded, missing } }: Ledger): string[] {
  if (captures === 0) return [];
  const head = `  ${counted(captures, "capture")} on it, which the emulator answers`;
  const lacking = missing.reduce((sum, it) => sum + it.times, 0);
  if (lacking === 0) return [head];
  const names = missing.slice(0, most).map((it) => `${clean(it.event, 60)}${times(it.times)}`);
  const more = missing.length > most ? ", …" : "";
  return [`${head}; ${lacking} of ${counted(recorded, "event")} were not sent again: ${names.join(", ")}${more}`];
}

export function tapeLines(played: Played | undefined, style: Style): string[] {
  if (!played) return [];
  const { name, ledger, advice } = played;
  const used = ledger.total - ledger.unused_count;
  const head =
    `phx-sim: tape ${clean(name, 100)}: ${used} of ${counted(ledger.total, "exchange")} used, ` +
    `${counted(ledger.miss_count, "request")} missed, ${ledger.unused_count} unused`;
  return [
    head,
    ...(ledger.approximate > 0
      ? [
          `  ${style.bad(`${counted(ledger.approximate, "answer")} for flags of another person, group or other properties`)}`,
        ]
      : []),
    ...(advice === undefined ? [] : [`  ${style.bad(advice)}`]),
    ...ledger.misses.slice(0, most).flatMap(missedLines(style)),
    ...rest(ledger.misses.length, "kinds of requests missed"),
    ...ledger.unused.slice(0, most).map((it) => `  unused ${named(it)}`),
    ...rest(ledger.unused_count, "unused"),
    ...ledger.left_out.slice(0, most).map((it) => `  left out ${named(it)}: ${clean(it.why, 120)}`),
    ...rest(ledger.left_out.length, "left out"),
    ...captureLines(ledger),
  ];
}

export const tapeFacts = (played: Played | undefined) =>
  played
    ? {
        name: played.name,
        requests: played.ledger.requests,
        exchanges: played.ledger.total,
        used: played.ledger.total - played.ledger.unused_count,
        missed: played.ledger.miss_count,
        approximate: played.ledger.approximate,
        unused: played.ledger.unused_count,
        left_out: played.ledger.left_out.length,
        advice: played.advice ?? null,
      }
    : null;
