import { counted } from "../kernel/counted.ts";
import { durationText } from "../kernel/time-text.ts";
import { keyNeeded } from "../tape/send/keys.ts";
import type { SendTally } from "../tape/send/run.ts";
import type { Survey } from "../tape/send/survey.ts";
import { type GivenKeys, type SkipReason, skipReasons } from "../tape/send/types.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

const most = 20;

/** The most frequent first. */
function countLines(counts: ReadonlyMap<string, number>, style: Style): string[] {
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const more = sorted.length > most ? [`  … and ${sorted.length - most} more`] : [];
  return [
    ...sorted.slice(0, most).map(([name, it]) => `  ${style.bold(`${it}`)} ${clean(name, 120)}`),
    ...more,
  ];
}

const skipTexts: Readonly<Record<SkipReason, string>> = {
  no_body: "its body is not on the tape",
  cut_off: "it was cut off by its client",
  tunnel: "it opens a tunnel or a websocket",
  method: "its method is none",
  encoding: "its body cannot be encoded here as it travelled",
};

/** What is left out, and why. */
export const skipLines = (skipped: Survey["skipped"]): string[] =>
  skipReasons.flatMap((reason) => {
    const times = skipped[reason];
    return times === undefined ? [] : `phx-sim: ${counted(times, "request")} left out: ${skipTexts[reason]}`;
  });

const optionFor: Readonly<Record<keyof GivenKeys, string>> = {
  project: "--token",
  personal: "--personal-key",
};

/** A placeholder of the tape, and whether there is something to put there. */
export interface Need {
  placeholder: string;
  requests: number;
  /** The first exchange that has it. */
  first: number;
  /** The option that fills it; null: none does. */
  option: string | null;
  isGiven: boolean;
}

/** The placeholders of a tape's requests. */
export const needsOf = ({ placeholders }: Survey, keys: GivenKeys): Need[] =>
  [...placeholders].map(([placeholder, { kind, requests, first }]) => {
    const key = keyNeeded(kind);
    const option = key === undefined ? null : optionFor[key];
    return { placeholder, requests, first, option, isGiven: key !== undefined && keys[key] !== undefined };
  });

const needText = ({ placeholder, first, option }: Need): string =>
  `${placeholder} (first in exchange ${first}): ${option ? `give ${option}` : "no option fills it; leave its route out with --only"}`;

/** Why nothing is sent. */
export function missingText(missing: readonly Need[]): string {
  const shown = missing.slice(0, 5).map(needText).join("; ");
  const more = missing.length > 5 ? `; and ${missing.length - 5} more` : "";
  return clean(
    `nothing was sent: the tape holds no value for ${counted(missing.length, "secret")}: ${shown}${more}`,
    1500,
  );
}

const momentOf = (time: number | undefined): string =>
  time === undefined ? "never" : new Date(time).toISOString();

export interface DryRun {
  tape: string;
  target: string;
  survey: Survey;
  needs: readonly Need[];
  shiftMs: number;
  newUuids: boolean;
  /** What to add so that it is sent; undefined: nothing. */
  advice: string | undefined;
}

/** What a dry run tells. */
export function dryLines({ tape, target, survey, needs, shiftMs, newUuids, advice }: DryRun, style: Style) {
  const { requests, routes, hosts, first, last, events } = survey;
  const moved = shiftMs === 0 ? "keep their times" : `move by ${durationText(shiftMs)}`;
  return [
    `${style.bold(`${requests}`)} request${requests === 1 ? "" : "s"} of ${clean(tape, 1000)} would go to ${clean(target, 300)}; nothing was sent`,
    ...countLines(routes, style),
    `recorded from ${momentOf(first)} to ${momentOf(last)}, for`,
    ...countLines(hosts, style),
    `${counted(events, "event")} ${moved} and ${newUuids ? "get new uuids" : "keep their uuids"}; sent_at becomes now`,
    ...needs
      .slice(0, most)
      .map(
        (it) =>
          `  ${clean(it.placeholder, 100)} in ${counted(it.requests, "request")}: ${it.isGiven ? `from ${it.option}` : style.bad(it.option ? `missing, give ${it.option}` : "missing, and no option fills it")}`,
      ),
    ...(advice === undefined ? [] : [clean(advice, 1000)]),
  ];
}

/** What came of sending. */
export function tallyLines(tally: SendTally, ms: number, style: Style): string[] {
  const statuses = [...tally.byStatus]
    .sort(([a], [b]) => a - b)
    .map(
      ([status, times]) => `${times} × ${status < 400 ? style.good(`${status}`) : style.bad(`${status}`)}`,
    );
  const failed = tally.failed > 0 ? [style.bad(`${tally.failed} without an answer`)] : [];
  const sent = tally.answered + tally.failed;
  const rate = ms > 0 ? `, ${Math.round((1000 * sent) / ms)} a second` : "";
  return [
    [`${counted(sent, "request")} sent in ${Math.round(ms)} ms${rate}`, ...statuses, ...failed].join(", "),
    ...tally.examples.map(
      ({ i, method, url, recorded, got }) =>
        `  #${i} ${clean(method, 32)} ${clean(url, 160)}: ${recorded} on the tape, ${style.bad(`${got}`)} now`,
    ),
    ...(tally.differing > tally.examples.length
      ? [`  … and ${tally.differing - tally.examples.length} more of another status class`]
      : []),
  ];
}
