import { nameText, printable } from "./printable.ts";
import { queueHint } from "./queues.ts";
import type { Complaint, DroppedSighting, NearMiss, Sighting, Surroundings } from "./types.ts";

/** What is known when terms did not hold. */
export interface Facts {
  surroundings: Surroundings;
  complaints: readonly Complaint[];
  near_misses: readonly NearMiss[];
  /** How many events were kept in the scope. */
  kept: number;
  dropped: readonly DroppedSighting[];
}

type Cause = (facts: Facts) => readonly string[];

/** Events told one by one; of more there is the number. */
const mostTold = 2;

function told<T>(items: readonly T[], tell: (item: T) => string, rest: (count: number) => string): string[] {
  const more = items.length - mostTold;
  return [...items.slice(0, mostTold).map(tell), ...(more > 0 ? [rest(more)] : [])];
}

const nameOf = ({ seq, event }: Sighting): string => `#${seq} ${nameText(event)}`;
const times = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const projectText = ({ project }: Surroundings): string =>
  project === null ? "all projects" : `project ${project.id} with the key ${printable(project.api_key, 80)}`;

const elsewhere: Cause = ({ surroundings }) =>
  told(
    surroundings.elsewhere,
    (it) =>
      `${nameOf(it)} fits, but it was sent to project ${it.project ?? "?"}${it.api_key ? ` with the key ${printable(it.api_key, 80)}` : ""}; looked at was ${projectText(surroundings)}`,
    (count) => `${times(count, "more event")} that fit${count === 1 ? "s" : ""} in other projects`,
  );

const early: Cause = ({ surroundings: { early, since } }) =>
  told(
    early,
    (it) =>
      `${nameOf(it)} fits, but it came before the mark (only events after #${since} count): take the mark before what captures it`,
    (count) => `${times(count, "more event")} that fit${count === 1 ? "s" : ""} came before the mark`,
  );

const late: Cause = ({ surroundings: { late } }) =>
  told(
    late,
    (it) =>
      `${nameOf(it)} fits, but it came ${it.ms_late === undefined ? "" : `${it.ms_late} ms `}too late: flush the SDK before the wait, or wait longer (timeoutMs, timeout_ms)`,
    (count) => `${times(count, "more event")} that fit${count === 1 ? "s" : ""} came too late`,
  );

const dropped: Cause = ({ dropped }) =>
  told(
    dropped.filter(({ fits }) => fits),
    (it) => `${nameOf(it)} fits, but it was dropped though HTTP 200 was returned: ${it.sentence}; ${it.fix}`,
    (count) => `${times(count, "more event")} that fit${count === 1 ? "s" : ""} dropped`,
  );

const silence: Cause = ({ surroundings: { requests, in_flight, url, project } }) => {
  if (requests > 0 || in_flight > 0) return [];
  const key = project
    ? `the project key ${printable(project.api_key, 80)}`
    : "a project key from `phx-sim env`";
  return [
    `no request has reached the sim: the app should use the host ${printable(url, 80)} and ${key}; \`phx-sim doctor\` checks its settings`,
    "or the SDK still has all events in its queue: flush it, or shut it down, before the wait",
  ];
};

const isBrowser = ({ lib }: { lib: string }): boolean => /^(posthog-js|web)$/.test(lib);

/** A browser library came, but no event: is it in an automated browser? */
const isMute = ({ surroundings: { senders, rejected }, kept, dropped }: Facts): boolean =>
  kept + dropped.length + rejected.length === 0 && senders.some(isBrowser);

const bots: Cause = (facts) =>
  isMute(facts)
    ? [
        "posthog-js asked for flags or its configuration, but captured nothing: it takes automated browsers for bots and captures nothing there; start it with opt_out_useragent_filter: true",
      ]
    : [];

const emptiness: Cause = (facts) => {
  const { requests, rejected, elsewhere, early } = facts.surroundings;
  const others = facts.kept + facts.dropped.length + rejected.length + elsewhere.length + early.length;
  if (requests === 0 || others > 0 || isMute(facts)) return [];
  return [`${times(requests, "request")} reached the sim, but none brought an event to this scope`];
};

const rejected: Cause = ({ surroundings: { rejected } }) =>
  told(
    rejected,
    (it) =>
      `request ${it.n}, ${printable(`${it.method} ${it.target}`, 80)}, was rejected with all its events: ${printable(it.reason, 60)}${it.detail ? ` (${printable(it.detail, 80)})` : ""}`,
    (count) => `${times(count, "more request")} rejected`,
  );

const unmatched: Cause = ({ surroundings: { unmatched } }) =>
  told(
    unmatched,
    (it) =>
      `request ${it.n}, ${printable(`${it.method} ${it.target}`, 80)}, went to a path that does not exist: ${printable(it.hint ?? "is the host right?", 300)}`,
    (count) => `${times(count, "more request")} to paths that do not exist`,
  );

const faults: Cause = ({ surroundings: { faults } }) =>
  told(
    faults,
    ({ name, touched }) =>
      `the fault ${nameText(name)} is active and touched ${times(touched, "request")}; \`phx-sim faults clear\` ends it`,
    (count) => `${times(count, "more fault")} active`,
  );

const flight: Cause = ({ surroundings: { in_flight } }) =>
  in_flight > 0
    ? [`${times(in_flight, "request")} still in flight: ${in_flight === 1 ? "it" : "they"} may bring it`]
    : [];

const evicted: Cause = ({ surroundings: { evicted } }) =>
  evicted
    ? ["events after the mark were let go (cleared, or over the log's limit): they are not in this report"]
    : [];

/** The very event came and is not as wanted: then the queue is not to blame. */
const sureMiss = 0.75;

const queues: Cause = ({ surroundings, near_misses, dropped }) => {
  const { senders, waited_ms, early, late, elsewhere } = surroundings;
  const isExplained =
    early.length + late.length + elsewhere.length > 0 ||
    dropped.some(({ fits }) => fits) ||
    near_misses.some(({ score }) => score >= sureMiss);
  if (isExplained) return [];
  return [...new Set(senders.flatMap((sender) => queueHint(sender, waited_ms) ?? []))].slice(0, 2);
};

/** Why something can be missing, the surest first. */
const absences: readonly Cause[] = [
  elsewhere,
  early,
  late,
  dropped,
  silence,
  bots,
  emptiness,
  rejected,
  unmatched,
  flight,
  faults,
  queues,
  evicted,
];

/** What can have led to too much, or to another order. */
const excesses: readonly Cause[] = [faults, evicted];

/** What may be the cause and what to do about it: whole sentences, safe to print. */
export function causesOf(facts: Facts): string[] {
  const isMissing = facts.complaints.some(({ kind }) => kind === "too_few");
  return (isMissing ? absences : excesses).flatMap((cause) => cause(facts));
}
