import { existsSync } from "node:fs";
import { counted } from "../../base/counted.ts";
import { durationText } from "../../base/time-text.ts";
import { clean } from "../../cli/clean-text.ts";
import type { Shell } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import type { Style } from "../../cli/style.ts";
import { tapePlace } from "../format/place.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import { createExcluder, type ExcludedCounts, type Excluder } from "../send/exclude.ts";
import {
  type Filling,
  fillingOf,
  type GivenKeys,
  keyNeeded,
  type Rate,
  type SkipReason,
  skipReasons,
} from "../send/plan.ts";
import { readRate, type SendTally } from "../send/run.ts";
import type { Survey } from "../send/survey.ts";
import { type Leave, leaveFor, readTarget, type SendTarget } from "../send/transport.ts";
import type { SendSettings } from "./send.ts";

/** The options of `send`, checked. */
export interface SendRequest {
  file: string;
  target: SendTarget;
  isDry: boolean;
  /** True if it is dry because --yes is missing. */
  lacksYes: boolean;
  only: readonly string[];
  excluder: Excluder;
  keys: GivenKeys;
  rate: Rate | undefined;
  concurrency: number;
  result: string | undefined;
}

type Values = SendSettings["values"];

/** The options that fill the placeholders of a tape. */
type KeyValues = Pick<Values, "token" | "personal-key" | "fill">;

/** Reads an option's value; what is wrong with it is a usage failure that names the option. */
function checked<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure("usage", `${name}: ${clean(error.message, 300)}`, error);
  }
}

function targetOf({ to }: Values): SendTarget {
  if (to === undefined) throw new Failure("usage", "send needs --to, e.g. --to http://127.0.0.1:7490");
  return checked("--to", () => readTarget(to));
}

function leaveOf(target: SendTarget, values: Values): Leave {
  const permits = {
    yes: values.yes,
    production: values["i-know-this-is-production"],
    hosts: values["allow-host"],
  };
  return checked("--allow-host", () => leaveFor(target, permits));
}

/** The variable that gives the value of one placeholder: `PHX_SIM_SECRET_PASSWORD_1` for `{{secret:password#1}}`. */
const secretVariable = ({ kind, number }: Placeholder): string =>
  `PHX_SIM_SECRET_${kind.toUpperCase()}_${number}`;

/** What fills the placeholders of a tape. @throws Failure usage */
export const keysOf = (values: KeyValues, env: Shell["env"]): GivenKeys => ({
  project: keyOf("--token", values.token),
  personal: keyOf("--personal-key", values["personal-key"] ?? env.PHX_SIM_PERSONAL_KEY),
  secret: (placeholder) => env[secretVariable(placeholder)] || undefined,
  ...(values.fill === "redacted" && { fill: values.fill }),
});

/** A key goes into headers and URLs as it is. */
function keyOf(name: string, key: string | undefined): string | undefined {
  if (key === undefined || key === "") return undefined;
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw new Failure("usage", `${name} is not a key: it has blanks or letters that no key has`);
}

function rateOf({ rate }: Values): Rate | undefined {
  if (rate === undefined) return undefined;
  const found = readRate(rate);
  if (found) return found;
  throw new Failure("usage", `--rate must be requests a second (10) or a pace (2x), not "${clean(rate)}"`);
}

const mostConcurrency = 64;

function concurrencyOf({ concurrency }: Values): number {
  if (concurrency >= 1 && concurrency <= mostConcurrency) return concurrency;
  throw new Failure("usage", `--concurrency must be from 1 to ${mostConcurrency}, not ${concurrency}`);
}

function resultOf({ result }: Values, cwd: string): string | undefined {
  if (result === undefined) return undefined;
  const place = tapePlace(result, cwd);
  if (!existsSync(place)) return place;
  throw new Failure("usage", `${clean(place)} already exists; give another name with --result`);
}

/** Checks the options of `send`; nothing is read or sent yet. @throws Failure usage */
export function requestOf(values: Values, shell: Shell): SendRequest {
  const target = targetOf(values);
  const leave = leaveOf(target, values);
  if (leave.may === "refused") throw new Failure("usage", clean(leave.why, 600));
  return {
    file: tapePlace(values.tape, shell.cwd),
    target,
    isDry: values["dry-run"] || leave.may === "dry",
    lacksYes: leave.may === "dry",
    only: values.only,
    excluder: checked("--exclude", () => createExcluder(values.exclude)),
    keys: keysOf(values, shell.env),
    rate: rateOf(values),
    concurrency: concurrencyOf(values),
    result: resultOf(values, shell.cwd),
  };
}

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

const excludedText = (text: string, times: number): string => {
  if (text.startsWith("path:")) return `a value of ${counted(times, "request")}`;
  return counted(times, text.startsWith("event:") ? "event" : "request");
};

/** What is left out, and why. */
export const skipLines = (skipped: Survey["skipped"], excluded: ExcludedCounts): string[] => [
  ...[...excluded].map(
    ([text, times]) => `phx-sim: --exclude ${clean(text, 120)} left out ${excludedText(text, times)}`,
  ),
  ...skipReasons.flatMap((reason) => {
    const times = skipped[reason];
    return times === undefined ? [] : `phx-sim: ${counted(times, "request")} left out: ${skipTexts[reason]}`;
  }),
];

const optionFor = { project: "--token", personal: "--personal-key" } as const;

/** A placeholder of the tape, and whether there is something to put there. */
export interface Need {
  placeholder: string;
  requests: number;
  /** The first exchange that has it. */
  first: number;
  /** The option that fills it; null: none does. */
  option: string | null;
  /** The variable that fills it. */
  variable: string;
  /** What `--exclude` takes to leave it out; null: it can only be left out with its route. */
  path: string | null;
  filling: Filling;
}

/** True if a placeholder keeps a request from being sent. */
export const isMissing = ({ filling }: Need): boolean => filling === "needs_key" || filling === "unknown";

/** The placeholders of a tape's requests. */
export const needsOf = ({ placeholders }: Survey, keys: GivenKeys): Need[] =>
  [...placeholders.values()].map((found) => {
    const key = keyNeeded(found.kind);
    return {
      placeholder: found.text,
      requests: found.requests,
      first: found.first,
      option: key === undefined ? null : optionFor[key],
      variable: secretVariable(found),
      path: found.place === undefined ? null : `path:${found.place}`,
      filling: fillingOf(found, keys),
    };
  });

/** How to give a secret, or do without it. */
const remedyOf = ({ option, variable, path }: Need): string =>
  option === null
    ? `set ${variable}, leave it out with --exclude ${path ?? "ROUTE"}, or send a stand-in with --fill redacted`
    : `give ${option}`;

const needText = (need: Need): string =>
  `${need.placeholder} (first in exchange ${need.first}): ${remedyOf(need)}`;

const fillingText = (need: Need, style: Style): string => {
  const { filling, option, variable } = need;
  if (isMissing(need)) return style.bad(`missing, ${remedyOf(need)}`);
  if (filling === "stand_in") return "a stand-in, --fill redacted";
  return `from ${option ?? variable}`;
};

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

interface DryRun {
  tape: string;
  target: string;
  survey: Survey;
  needs: readonly Need[];
  shiftMs: number;
  newUuids: boolean;
  /** What to add so that it is sent; undefined: nothing. */
  advice: string | undefined;
}

/** The report of a dry run. */
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
          `  ${clean(it.placeholder, 100)} in ${counted(it.requests, "request")}: ${fillingText(it, style)}`,
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
