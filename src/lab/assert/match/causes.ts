import { counted } from "../../../kernel/base/text.ts";
import { nameText, printable } from "./printable.ts";
import type { Complaint, DroppedSighting, NearMiss, Sighting, Surroundings } from "./report-shapes.ts";
import { endedText, wrongKeyText } from "./report-text.ts";

interface Queue {
  /** Its name in `$lib` or in its User-Agent. */
  lib: RegExp;
  /** How often it sends its queue, ms; null if it waits for more events, a call or the process's end. */
  everyMs: number | null;
  flush: string;
}

/** Defaults of the libraries: the times were read in the sources of posthog-js 1.449, posthog-node 5.70, @posthog/core and posthog-go 1.5. */
const sdkQueues: readonly Queue[] = [
  { lib: /^(posthog-js|web)$/, everyMs: 3_000, flush: "`request_batching: false` sends at once" },
  { lib: /^posthog-node$/, everyMs: 5_000, flush: "`await client.flush()` or `await client.shutdown()` first" },
  { lib: /^posthog-edge$/, everyMs: null, flush: "`await client.shutdown()` first" },
  { lib: /^(posthog-js-lite|js)$/, everyMs: 10_000, flush: "`await posthog.flush()` first, or `flushAt: 1`" },
  { lib: /^posthog-react-native$/, everyMs: 10_000, flush: "`await posthog.flush()` first, or `flushAt: 1`" },
  { lib: /^posthog-go$/, everyMs: 5_000, flush: "`client.Close()` first, or `BatchSize: 1`" },
  { lib: /^posthog-(python|py)$/, everyMs: null, flush: "`posthog.flush()` first, or `sync_mode=True`" },
  { lib: /^posthog-ruby$/, everyMs: null, flush: "`client.flush` first" },
  { lib: /^posthog-php$/, everyMs: null, flush: "`PostHog::flush()` first" },
  { lib: /^posthog-(ios|android|flutter)$/, everyMs: null, flush: "`flush()` first, or `flushAt = 1`" },
  { lib: /^posthog-dotnet$/, everyMs: null, flush: "`await client.FlushAsync()` first" },
];

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;

/**
 * What to do if an event may still be in the library's queue: a sentence, or undefined if the library is not known or
 * has certainly sent it.
 * @param waited How long the wait took, ms; null for none
 */
export function queueHint(
  { lib, version }: { lib: string; version: string | null },
  waited: number | null,
): string | undefined {
  const queue = sdkQueues.find((row) => row.lib.test(lib));
  if (!queue || (queue.everyMs !== null && waited !== null && waited > queue.everyMs)) return undefined;
  const name = version === null ? lib : `${lib} ${version}`;
  return `the event may still be in the SDK's queue: ${name} ${habitOf(queue, waited)}; ${queue.flush}`;
}

function habitOf({ everyMs }: Queue, waited: number | null): string {
  if (everyMs === null) return "keeps events in a queue";
  const habit = `sends only every ${seconds(everyMs)} by default`;
  return waited === null ? habit : `${habit}, and the wait took ${seconds(waited)}`;
}

export interface KnownCauses {
  /** Certain causes: guesses are left out. */
  readonly certain: readonly string[];
  /** What is known of the SDK if no request has arrived, instead of the guess that its host or key is wrong. */
  readonly sdk: readonly string[];
  /** Where no SDK was found if no request has arrived, instead of the guess that it has kept the events. */
  readonly absent: readonly string[];
  /** Why the SDK's queue is not sent by itself, instead of the guess that its time has not come. */
  readonly queue: readonly string[];
}

export const nothingKnown: KnownCauses = { certain: [], sdk: [], absent: [], queue: [] };

export interface CauseFacts {
  known: KnownCauses;
  surroundings: Surroundings;
  complaints: readonly Complaint[];
  near_misses: readonly NearMiss[];
  kept: number;
  dropped: readonly DroppedSighting[];
}

type Cause = (facts: CauseFacts) => readonly string[];

const mostListed = 2;

function listed<T>(items: readonly T[], line: (item: T) => string, rest: (count: number) => string): string[] {
  const more = items.length - mostListed;
  return [...items.slice(0, mostListed).map(line), ...(more > 0 ? [rest(more)] : [])];
}

const nameOf = ({ seq, event }: Sighting): string => `#${seq} ${nameText(event)}`;

const projectText = ({ project }: Surroundings): string =>
  project === null ? "all projects" : `project ${project.id} with the key ${printable(project.api_key, 80)}`;

const known: Cause = ({ known: { certain } }) => certain;

const shared: Cause = ({ surroundings: { ended } }) => ended.filter(({ late }) => !late).map(endedText);

const lateFlush: Cause = ({ surroundings: { ended } }) =>
  ended
    .filter(({ late }) => late)
    .map(
      ({ name, events }) =>
        `an SDK of ${printable(JSON.stringify(name), 80)}, which has ended, has sent events late: ${events.map(nameText).join(", ") || "a request without events"}`,
    );

const wrongKey: Cause = ({ surroundings: { wrong_keys, project } }) =>
  wrong_keys.map(
    (it) =>
      `${wrongKeyText(it, project?.api_key)}${it.certain ? "" : "; another test that ran at the same time may have sent it"}`,
  );

const namedRequests = ({ ended, wrong_keys }: Surroundings): Set<number> =>
  new Set([...ended, ...wrong_keys].flatMap(({ requests }) => requests));

const elsewhere: Cause = ({ surroundings }) =>
  listed(
    surroundings.elsewhere,
    (it) =>
      `${nameOf(it)} fits, but it was sent to project ${it.project ?? "?"}${it.api_key ? ` with the key ${printable(it.api_key, 80)}` : ""}; the assertion is about ${projectText(surroundings)}`,
    (count) => `${counted(count, "more event")} that fit${count === 1 ? "s" : ""} in other projects`,
  );

const early: Cause = ({ surroundings: { early, since } }) =>
  listed(
    early,
    (it) =>
      `${nameOf(it)} fits, but it came before the mark (only events after #${since} count): take the mark before the code that captures it`,
    (count) => `${counted(count, "more event")} that fit${count === 1 ? "s" : ""} came before the mark`,
  );

const late: Cause = ({ surroundings: { late } }) =>
  listed(
    late,
    (it) =>
      `${nameOf(it)} fits, but it came ${it.ms_late === undefined ? "" : `${it.ms_late} ms `}too late: flush the SDK before the wait, or wait longer (timeoutMs, timeout_ms)`,
    (count) => `${counted(count, "more event")} that fit${count === 1 ? "s" : ""} came too late`,
  );

const dropped: Cause = ({ dropped }) =>
  listed(
    dropped.filter(({ fits }) => fits),
    (it) => `${nameOf(it)} fits, but it was dropped though HTTP 200 was returned: ${it.sentence}; ${it.fix}`,
    (count) => `${counted(count, "more event")} that fit${count === 1 ? "s" : ""} dropped`,
  );

const silence: Cause = ({ surroundings: { requests, in_flight, url, project }, known }) => {
  if (requests > 0 || in_flight > 0) return [];
  const key = project ? `the project key ${printable(project.api_key, 80)}` : "a project key from `phx-sim env`";
  const settings = `no request has reached the sim: the app should use the host ${printable(url, 80)} and ${key}; \`phx-sim doctor\` checks its settings`;
  const idle = [
    "or the SDK still has all events in its queue: flush it, or shut it down, before the wait",
    "or the SDK is disabled (`disabled: true`), or its user has opted out",
  ];
  if (known.sdk.length > 0) return [...known.sdk.map((it) => `no request has reached the sim: ${it}`), ...known.queue];
  const facts = [...known.absent, ...known.queue];
  return [settings, ...(facts.length > 0 ? facts : idle)];
};

const isBrowser = ({ lib }: { lib: string }): boolean => /^(posthog-js|web)$/.test(lib);

/** True if a browser library sent requests, but no event: it may run in an automated browser. */
const isMute = ({ surroundings: { senders, rejected }, kept, dropped }: CauseFacts): boolean =>
  kept + dropped.length + rejected.length === 0 && senders.some(isBrowser);

const bots: Cause = (facts) =>
  isMute(facts)
    ? [
        "posthog-js asked for flags or its configuration, but captured nothing: it takes automated browsers for bots and captures nothing there; start it with opt_out_useragent_filter: true",
      ]
    : [];

const emptiness: Cause = (facts) => {
  const { requests, rejected, elsewhere, early } = facts.surroundings;
  const named = namedRequests(facts.surroundings).size;
  const others = facts.kept + facts.dropped.length + rejected.length + elsewhere.length + early.length + named;
  if (requests === 0 || others > 0 || isMute(facts)) return [];
  return [`${counted(requests, "request")} reached the sim, but none had an event for this scope`];
};

const rejectedWhy = ({ hint, detail }: Surroundings["rejected"][number]): string =>
  hint === undefined ? (detail ? ` (${printable(detail, 80)})` : "") : `: ${printable(hint, 300)}`;

const rejected: Cause = ({ surroundings }) =>
  listed(
    surroundings.rejected.filter(({ n }) => !namedRequests(surroundings).has(n)),
    (it) =>
      `request ${it.n}, ${printable(`${it.method} ${it.target}`, 80)}, was rejected with all its events: ${printable(it.reason, 60)}${rejectedWhy(it)}`,
    (count) => `${counted(count, "more request")} rejected`,
  );

const unmatchedLines = (unmatched: Surroundings["unmatched"]): string[] =>
  listed(
    unmatched,
    (it) =>
      `request ${it.n}, ${printable(`${it.method} ${it.target}`, 80)}, went to a path that does not exist: ${printable(it.hint ?? "check the host", 300)}`,
    (count) => `${counted(count, "more request")} to paths that do not exist`,
  );

const faults: Cause = ({ surroundings: { faults } }) =>
  listed(
    faults,
    ({ name, touched }) =>
      `the fault ${nameText(name)} is active and touched ${counted(touched, "request")}; \`phx-sim faults clear\` ends it`,
    (count) => `${counted(count, "more fault")} active`,
  );

const flight: Cause = ({ surroundings: { in_flight } }) =>
  in_flight > 0
    ? [`${counted(in_flight, "request")} still in flight: ${in_flight === 1 ? "it" : "they"} may carry it`]
    : [];

const evicted: Cause = ({ surroundings: { evicted } }) =>
  evicted ? ["events after the mark were removed (cleared, or over the log's limit): they are not in this report"] : [];

/** A near miss with this score is the event itself, with other properties: the queue is not the cause. */
const sureMiss = 0.75;

const queues: Cause = ({ surroundings: { requests, senders, waited_ms }, known }) => {
  if (requests === 0) return [];
  if (known.queue.length > 0) return known.queue;
  return [...new Set(senders.flatMap((sender) => queueHint(sender, waited_ms) ?? []))].slice(0, 2);
};

/** Requests with events that went to a path that does not exist; what else is there is no cause. */
const lost: Cause = (facts) => {
  const { unmatched } = facts.surroundings;
  return unmatchedLines(unmatched.filter(({ method }) => method === "POST"));
};

const strays: Cause = (facts) => {
  const { unmatched } = facts.surroundings;
  return unmatchedLines(unmatched.filter(({ method }) => method !== "POST"));
};

const certainties: readonly Cause[] = [known, shared, wrongKey, elsewhere, early, late, dropped, rejected, lost];

/** Why something can be missing if nothing certain is known. */
const guesses: readonly Cause[] = [silence, bots, emptiness];

const circumstances: readonly Cause[] = [strays, flight, faults];

/** What keeps events from the report, and what belongs to other tests. */
const remarks: readonly Cause[] = [evicted, lateFlush];

const excesses: readonly Cause[] = [faults, evicted];

/** Possible causes and what to do about them: whole sentences, safe to print. The most certain come first. */
export function causesOf(facts: CauseFacts): string[] {
  const of = (causes: readonly Cause[]) => causes.flatMap((cause) => cause(facts));
  if (!facts.complaints.some(({ kind }) => kind === "too_few")) return of(excesses);
  const certain = of(certainties);
  if (certain.length > 0) return [...certain, ...of(circumstances), ...of(remarks)];
  const isNear = facts.near_misses.some(({ score }) => score >= sureMiss);
  return [...of(guesses), ...of(circumstances), ...(isNear ? [] : of([queues])), ...of(remarks)];
}
