import type { FaultEffect, FaultMatch } from "../model/fault.ts";

const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`);

const socketTexts = {
  reset: "a connection reset",
  hang: "no answer",
} as const;

/** Kinds of effects in words, in the order they are looked for. */
const texts: readonly ((effect: FaultEffect) => string | undefined)[] = [
  ({ status }) => (status === undefined ? undefined : `status ${status}`),
  ({ socket, after }) => socket && `${socketTexts[socket]}${after ? " after the request was handled" : ""}`,
  ({ body, status }) =>
    status === undefined && body === "garbage" ? "answers that are not JSON" : undefined,
  ({ body, status }) =>
    status === undefined && body === "truncate" ? "answers cut off half way" : undefined,
  ({ flags }) =>
    flags && (flags === "partial" ? "every second flag failing" : `failing flags ${flags.join(", ")}`),
  ({ quota }) => quota && `used up: ${quota.join(", ")}`,
];

function effectText(effect: FaultEffect): string {
  const { latency, jitter } = effect;
  const wait = latency && `${seconds(latency)}${jitter ? ` ± ${seconds(jitter)}` : ""} of latency`;
  const what = texts.map((text) => text(effect)).find((it) => it);
  return [wait, what].filter((it) => it).join(", then ") || "no latency";
}

function matchText({ method, route, project }: FaultMatch): string {
  const where = [method, route].filter((it) => it !== undefined).join(" ") || "all requests";
  return project === undefined ? where : `${where} of project ${project}`;
}

/** What is told of a rule. */
export interface Told {
  readonly match: FaultMatch;
  readonly effect: FaultEffect;
  readonly rate: number;
  readonly times: number | null;
  readonly duration: number | null;
}

/** A rule in words: what, where, how often, for how long. */
export function describeFault({ match, effect, rate, times, duration }: Told): string {
  const parts = [
    `${effectText(effect)} on ${matchText(match)}`,
    rate < 1 && `for ${Number((rate * 100).toFixed(3))} % of them`,
    times !== null && (times === 1 ? "once" : `${times} times`),
    duration !== null && `for ${seconds(duration)}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}
