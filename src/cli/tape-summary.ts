import type { LoadedTape, Sim } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** What was used of the tape that answered; null: none did. */
export type Played = Pick<LoadedTape, "name" | "on_miss" | "ledger"> | null | undefined;

/** Without a tape nobody is asked: the control API would be loaded to say so. */
export const replayed = async (sim: Sim): Promise<Played> =>
  sim.isReplaying() ? sim.tapes.get().catch(() => null) : null;

/** Requests that were answered with an error because the tape has no answer for them. */
export const missedOf = (played: Played): number =>
  played?.on_miss === "fail" ? played.ledger.miss_count : 0;

/** Each of both is told so often; GET /__sim/tapes has more. */
const most = 10;
const mostPaths = 3;

type Ledger = LoadedTape["ledger"];
type Miss = Ledger["misses"][number];
type Nearest = Miss["nearest"][number];

const times = (count: number): string => (count === 1 ? "" : ` ×${count}`);

/** Without scheme and host. */
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/i, "") || "/";

function nearestLine({ i, method, url, differing }: Nearest): string {
  const paths = differing
    .slice(0, mostPaths)
    .map(({ path, recorded, asked }) => `${clean(path, 120)}: ${clean(recorded, 80)} → ${clean(asked, 80)}`);
  const more = differing.length > mostPaths ? `; … and ${differing.length - mostPaths} more` : "";
  const told = paths.length === 0 ? "" : `  ${paths.join("; ")}${more}`;
  return `    nearest #${i} ${clean(method, 20)} ${clean(pathOf(url), 120)}${told}`;
}

const missedLines = (style: Style) => (miss: Miss) => [
  `  ${style.bad("missed")} ${clean(miss.method, 20)} ${clean(miss.target, 120)}${times(miss.times)}`,
  ...miss.nearest.slice(0, 1).map(nearestLine),
];

const unusedLine = ({ i, method, url }: Ledger["unused"][number]): string =>
  `  unused #${i} ${clean(method, 20)} ${clean(pathOf(url), 120)}`;

const rest = (all: number, what: string): string[] =>
  all > most ? [`  … and ${all - most} more ${what} (GET /__sim/tapes)`] : [];

/** The summary of a replay on a terminal: used, missed, unused. */
export function tapeLines(played: Played, style: Style): string[] {
  if (!played) return [];
  const { name, ledger } = played;
  const used = ledger.total - ledger.unused_count;
  const head =
    `phx-sim: tape ${clean(name, 100)}: ${used} of ${counted(ledger.total, "exchange")} used, ` +
    `${counted(ledger.miss_count, "request")} missed, ${ledger.unused_count} unused`;
  return [
    head,
    ...ledger.misses.slice(0, most).flatMap(missedLines(style)),
    ...rest(ledger.misses.length, "kinds of requests missed"),
    ...ledger.unused.slice(0, most).map(unusedLine),
    ...rest(ledger.unused_count, "unused"),
  ];
}
