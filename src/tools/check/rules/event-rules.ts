import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { counted } from "../../../kernel/base/text.ts";
import { explain } from "../../../state/journal/drop-reasons.ts";
import { recordingEvent } from "../../../state/journal/items.ts";
import type { ArrivedEvent, Observations, SdkRequest, Visit } from "../observations.ts";
import {
  callsOf,
  distinct,
  eventEvidence,
  hasFailed,
  isCapturing,
  isDocument,
  isOfBrowser,
  isOfServer,
  loadedSdks,
  requestEvidence,
  urlOf,
} from "./facts.ts";
import { type CheckEvidence, type CheckRule, noDelivery } from "./rule.ts";

const isPageview = ({ event }: ArrivedEvent): boolean => event === "$pageview";

/** Visits of this kind on which the SDK captured no page view. */
function withoutPageview(o: Observations, takes: (visit: Visit) => boolean): CheckEvidence[] {
  return o.visits.flatMap((visit, i) => {
    if (!takes(visit) || !isCapturing(visit)) return [];
    const called = callsOf(visit, "capture").some(({ argument }) => argument === "$pageview");
    const came = o.events.some((it) => it.visit === i && isPageview(it));
    return called || came ? [] : [{ text: "no $pageview", url: visit.url }];
  });
}

/** Page views of one address in one visit; in React's development mode effects run twice. */
function repeatedPageviews(o: Observations): CheckEvidence[] {
  return o.visits.flatMap((visit, i) => {
    const views = o.events.filter((it) => it.visit === i && isPageview(it) && isOfBrowser(it) && it.outcome === "kept");
    const counts = groupedBy(views, (it) => urlOf(it) ?? visit.url);
    return [...counts].flatMap(([url, list]) =>
      list.length > 1 ? [{ text: `${list.length} $pageview for one visit`, url }] : [],
    );
  });
}

const flagReads = ["getFeatureFlag", "isFeatureEnabled"];

/** Flags that were read only before they were loaded. */
function earlyReads({ visits }: Observations): CheckEvidence[] {
  return distinct(
    visits.flatMap((visit) => {
      const reads = callsOf(visit, ...flagReads);
      const isLate = new Set(reads.filter(({ flags, returned }) => flags || returned).map((it) => it.argument));
      return reads
        .filter((it) => it.argument !== null && !isLate.has(it.argument))
        .map((it) => ({
          text: `posthog.${it.name}(${JSON.stringify(it.argument)}) returned undefined`,
          url: visit.url,
        }));
    }),
  );
}

const isRecorder = ({ url }: SdkRequest): boolean => /recorder[\w.-]*\.js/.test(url);

function lostRecordings(o: Observations): CheckEvidence[] {
  const wants = o.visits.filter((it) =>
    it.sdk.instances.some(({ loaded, optedOut, config }) => loaded && !optedOut && !config.recordingDisabled),
  );
  if (wants.length === 0) return [];
  const failed = o.requests.filter((it) => (it.kind === "recording" || isRecorder(it)) && hasFailed(it));
  if (failed.length > 0) return distinct(failed.map((it) => requestEvidence(it, o)));
  const isOn = wants.some(({ sdk }) => sdk.instances.some(({ recording }) => recording));
  return isOn && !o.events.some(({ event }) => event === recordingEvent)
    ? [{ text: "the recorder runs, and no recording arrived" }]
    : [];
}

/** Limit of the service for one event, in bytes. */
const largest = 1_000_000;

/** What differs between names that a program makes: numbers, hashes, ids. */
const patternOf = (name: string): string => name.replace(/\b[\da-f]{8}-[\da-f-]{27}\b|\b[\da-f]{12,}\b|\d+/gi, "#");

/** This many names that differ in a value are made by a program. */
const madeNames = 3;

function namesWithValues({ events }: Observations): CheckEvidence[] {
  const names = new Map<string, Set<string>>();
  for (const { event } of events) {
    const pattern = patternOf(event);
    if (pattern === event || event.startsWith("$")) continue;
    names.set(pattern, (names.get(pattern) ?? new Set()).add(event));
  }
  return [...names.values()].flatMap((it) =>
    it.size < madeNames
      ? []
      : [
          {
            text: `${it.size} names such as ${[...it]
              .slice(0, 3)
              .map((name) => JSON.stringify(name))
              .join(", ")}`,
          },
        ],
  );
}

const serverLibraries = /^(?:posthog-node|posthog-ai|@posthog\/(?:ai|nextjs|mcp))$/;

/** Page views, flags, recordings, and what became of events. */
export const eventRules = {
  pageview_missing: {
    area: "pageviews",
    severity: "warning",
    sentence: "a page was loaded, and no $pageview was captured",
    fix: 'leave capture_pageview on (`defaults: "2026-01-30"` in posthog.init), or capture $pageview in the router',
    unless: ["page_failed"],
    find: (o) => withoutPageview(o, (it) => isDocument(it) && it.failure === null),
  },
  pageview_missing_history: {
    area: "pageviews",
    severity: "warning",
    sentence: "the app changes its address without a new document, and no $pageview is captured for it",
    fix: 'set capture_pageview: "history_change" (part of `defaults: "2025-05-24"` and later), or capture $pageview in the router',
    unless: ["pageview_missing"],
    find: (o) => withoutPageview(o, ({ how }) => how === "history"),
  },
  pageview_duplicate: {
    area: "pageviews",
    severity: "warning",
    sentence: "one visit of a page has several $pageview",
    fix: "either let the SDK capture page views, or set capture_pageview: false and capture them in the router",
    unless: ["sdk_loaded_twice"],
    find: repeatedPageviews,
  },
  flag_read_early: {
    area: "flags",
    severity: "warning",
    sentence: "a flag is read before flags are loaded, and not again: the user gets the fallback",
    fix: "read flags in posthog.onFeatureFlags(…), or pass them as `bootstrap`",
    unless: noDelivery,
    find: earlyReads,
  },
  recording_failed: {
    area: "recordings",
    severity: "warning",
    sentence: "session recording is on, and recordings do not arrive",
    fix: "check what answers /static/lazy-recorder.js and /s/, and the page's Content-Security-Policy; set disable_session_recording: true if it is not wanted",
    unless: noDelivery,
    find: lostRecordings,
  },
  recording_disabled: {
    area: "recordings",
    severity: "info",
    sentence: "the app switches session recording off",
    fix: "nothing, if that is intended; else remove disable_session_recording",
    find: (o) =>
      loadedSdks(o).some(({ config }) => config.recordingDisabled)
        ? [{ text: "disable_session_recording is true" }]
        : [],
  },
  event_dropped: {
    area: "events",
    severity: "error",
    sentence: "the service would drop an event",
    fix: "see the reason of each",
    unless: ["id_placeholder"],
    find: ({ events }) =>
      events.flatMap((it) => {
        // The linter separates events that were sent again from those that share a uuid.
        if (it.reason === null || it.reason === "duplicate_event_uuid") return [];
        const { sentence, fix } = explain(it.reason);
        return [eventEvidence(it, `${it.event}: ${sentence}${fix === "" ? "" : ` (${fix})`}`)];
      }),
  },
  event_changed: {
    area: "events",
    severity: "warning",
    sentence: "the service would change an event, or doubts it",
    fix: "see the reason of each",
    unless: ["id_placeholder", "identified_twice"],
    find: ({ events }) =>
      events.flatMap((it) =>
        it.warnings.map((code) => {
          const { sentence, fix } = explain(code);
          return eventEvidence(it, `${it.event}: ${sentence} (${fix})`);
        }),
      ),
  },
  request_rejected: {
    area: "events",
    severity: "error",
    sentence: "the service would reject a request",
    fix: "see the reason of each",
    unless: noDelivery,
    find: ({ rejected }) =>
      rejected.map(({ n, method, target, status, rejected }) => ({
        text: `${method} ${target}: ${status} ${rejected?.detail || rejected?.reason}${rejected?.hint ? ` (${rejected.hint})` : ""}`,
        request: n,
      })),
  },
  event_too_large: {
    area: "events",
    severity: "error",
    sentence: "an event is larger than 1 MB: the service drops it",
    fix: "send less: ids instead of documents, lengths instead of lists",
    find: ({ events }) =>
      events.flatMap((it) => {
        const bytes = it.event === recordingEvent ? 0 : Buffer.byteLength(JSON.stringify(it.properties));
        return bytes > largest
          ? [eventEvidence(it, `${it.event} has ${(bytes / 1e6).toFixed(1)} MB of properties`)]
          : [];
      }),
  },
  event_name_has_value: {
    area: "events",
    severity: "warning",
    sentence: "names of events contain values: each value makes an event of its own",
    fix: "use one name, and put the value in a property",
    find: namesWithValues,
  },
  server_not_flushed: {
    area: "server",
    severity: "warning",
    sentence: "the command ended, and its SDK has sent nothing: events that it holds back are lost",
    fix: "await posthog.shutdown() before the process ends (or flush(); flushAt: 1, flushInterval: 0 in short-lived functions)",
    unless: ["app_failed", ...noDelivery],
    find: ({ app: { libraries, exitCode, command }, events }) => {
      const library = libraries.find(({ name }) => serverLibraries.test(name));
      const came = events.filter(isOfServer).length;
      return exitCode === null || library === undefined || came > 0
        ? []
        : [{ text: `${library.name} ${library.version}, ${counted(came, "event")} from ${command}` }];
    },
  },
} as const satisfies Record<string, CheckRule>;
