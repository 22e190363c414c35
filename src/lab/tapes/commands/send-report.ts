import { isoOf } from "../../../kernel/base/clock.ts";
import { counted } from "../../../kernel/base/text.ts";
import { durationText } from "../../../kernel/base/time-text.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { CommandEnd } from "../../../kernel/command/command.ts";
import type { Style } from "../../../kernel/command/style.ts";
import type { ExcludedCounts } from "../send/exclude.ts";
import { type GivenKeys, type SendSkipReason, skipReasons } from "../send/plan.ts";
import type { SendTally } from "../send/run.ts";
import type { Survey } from "../send/survey.ts";
import type { SendTarget } from "../send/target.ts";
import { fillingText, needsOf } from "./send-needs.ts";

export interface SendFacts {
  file: string;
  target: SendTarget;
  keys: GivenKeys;
  /** What to add so that it is sent; undefined: nothing is missing. */
  advice: string | undefined;
}

/** What is to be sent, and what `--exclude` left out of it. */
export type Surveyed = Survey & { excluded: ExcludedCounts; damaged: number };

export interface Sent {
  tally: SendTally;
  ms: number;
  ending: CommandEnd;
}

const most = 20;

function countLines(counts: ReadonlyMap<string, number>, style: Style): string[] {
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const more = sorted.length > most ? [`  … and ${sorted.length - most} more`] : [];
  return [...sorted.slice(0, most).map(([name, it]) => `  ${style.bold(`${it}`)} ${clean(name, 120)}`), ...more];
}

const skipTexts: Readonly<Record<SendSkipReason, string>> = {
  no_body: "its body is not on the tape",
  cut_off: "it was cut off by its client",
  tunnel: "it opens a tunnel or a websocket",
  method: "its method is none",
  encoding: "its body cannot be encoded here as it was received",
};

const excludedText = (text: string, times: number): string => {
  if (text.startsWith("path:")) return `a value of ${counted(times, "request")}`;
  return counted(times, text.startsWith("event:") ? "event" : "request");
};

export const skipLines = (skipped: Survey["skipped"], excluded: ExcludedCounts): string[] => [
  ...[...excluded].map(
    ([text, times]) => `phx-sim: --exclude ${clean(text, 120)} left out ${excludedText(text, times)}`,
  ),
  ...skipReasons.flatMap((reason) => {
    const times = skipped[reason];
    return times === undefined ? [] : `phx-sim: ${counted(times, "request")} left out: ${skipTexts[reason]}`;
  }),
];

const isoOrNull = (time: number | undefined): string | null => (time === undefined ? null : isoOf(time));

const targetText = ({ target }: SendFacts): string => target.url.href.replace(/\/$/, "");

const commonReport = (request: SendFacts, survey: Surveyed) => ({
  tape: request.file,
  target: targetText(request),
  requests: survey.requests,
  routes: Object.fromEntries(survey.routes),
  hosts: Object.fromEntries(survey.hosts),
  first: isoOrNull(survey.first),
  last: isoOrNull(survey.last),
  events: survey.events,
  skipped: survey.skipped,
  excluded: Object.fromEntries(survey.excluded),
  placeholders: needsOf(survey, request.keys).map(({ first: _, ...need }) => ({
    ...need,
    given: need.filling === "given",
  })),
});

export function dryReport(
  request: SendFacts,
  survey: Surveyed,
  { shiftMs, newUuids }: { shiftMs: number; newUuids: boolean },
  style: Style,
) {
  const { requests, routes, hosts, first, last, events } = survey;
  const moved = shiftMs === 0 ? "keep their times" : `move by ${durationText(shiftMs)}`;
  const needs = needsOf(survey, request.keys).slice(0, most);
  const what = `${style.bold(`${requests}`)} request${requests === 1 ? "" : "s"} of ${clean(request.file, 1000)}`;
  return {
    report: { ok: true, dry_run: true, ...commonReport(request, survey), shift_ms: shiftMs },
    lines: [
      `${what} would go to ${clean(targetText(request), 300)}; nothing was sent`,
      ...countLines(routes, style),
      `recorded from ${isoOrNull(first) ?? "never"} to ${isoOrNull(last) ?? "never"}, for`,
      ...countLines(hosts, style),
      `${counted(events, "event")} ${moved} and ${newUuids ? "get new uuids" : "keep their uuids"}; sent_at becomes now`,
      ...needs.map(
        (it) => `  ${clean(it.placeholder, 100)} in ${counted(it.requests, "request")}: ${fillingText(it, style)}`,
      ),
      ...(request.advice === undefined ? [] : [clean(request.advice, 1000)]),
    ],
  };
}

export function sentReport(request: SendFacts, survey: Surveyed, { tally, ms }: Sent, style: Style) {
  const { answered, failed, differing, examples, skipped, byStatus } = tally;
  const sent = answered + failed;
  const statuses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${times} × ${status < 400 ? style.good(`${status}`) : style.bad(`${status}`)}`);
  const failures = failed > 0 ? [style.bad(`${failed} without a response`)] : [];
  const rate = ms > 0 ? `, ${Math.round((1000 * sent) / ms)} a second` : "";
  return {
    report: {
      dry_run: false,
      ...commonReport(request, survey),
      skipped,
      sent,
      by_status: Object.fromEntries(byStatus),
      failed,
      failure: tally.failure ?? null,
      differing,
      examples,
      ms: Math.round(ms),
    },
    lines: [
      [`${counted(sent, "request")} sent in ${Math.round(ms)} ms${rate}`, ...statuses, ...failures].join(", "),
      ...examples.map(
        ({ i, method, url, recorded, got }) =>
          `  #${i} ${clean(method, 32)} ${clean(url, 160)}: ${recorded} on the tape, ${style.bad(`${got}`)} now`,
      ),
      ...(differing > examples.length ? [`  … and ${differing - examples.length} more of another status class`] : []),
    ],
  };
}
