import { textIn } from "../../../kernel/base/json.ts";
import type { SimRequest } from "../../../state/journal/request-shapes.ts";
import type { ProbeNote, SdkInstance } from "../browser/probe.ts";
import type { ArrivedEvent, Observations, SdkRequest, Visit } from "../observations.ts";
import type { CheckEvidence } from "./rule.ts";

type CallNote = Extract<ProbeNote, { kind: "call" }>;

export const callsOf = ({ notes }: Visit, ...names: readonly string[]): CallNote[] =>
  notes.filter((it): it is CallNote => it.kind === "call" && (names.length === 0 || names.includes(it.name)));

export const loadedIn = ({ sdk }: Visit): SdkInstance[] => sdk.instances.filter(({ loaded }) => loaded);

export const loadedSdks = ({ visits }: Observations): SdkInstance[] => visits.flatMap(loadedIn);

/** True if an SDK of the page captures. */
export const isCapturing = (visit: Visit): boolean => loadedIn(visit).some(({ optedOut }) => !optedOut);

export const isDocument = ({ how }: Visit): boolean => how === "load" || how === "reload";

/** True for events of posthog-js. */
export const isOfBrowser = ({ properties: { $lib: lib } }: ArrivedEvent): boolean => lib === "web" || lib === "js";

export const libOf = ({ properties }: ArrivedEvent): string => textIn(properties, "$lib") || "unknown";

export const isOfServer = (event: ArrivedEvent): boolean => !isOfBrowser(event) && libOf(event) !== "unknown";

const isHtml = ({ contentType }: SdkRequest): boolean => /^text\/html/.test(contentType ?? "");

/** True for a request without the answer of the service. */
export const hasFailed = (request: SdkRequest): boolean =>
  request.failure !== null || ((request.status ?? 0) >= 300 && request.status !== notModified) || isHtml(request);

const notModified = 304;

/** Why the sim rejected a request, in its own words. */
export const rejectionText = ({ method, target, rejected }: SimRequest): string =>
  `${method} ${target}: ${rejected?.detail || rejected?.reason}`;

/** How a request went, for reports. */
function requestText(request: SdkRequest): string {
  const { method, url, status, failure, location, place } = request;
  if (place === "elsewhere") return `${method} ${url}: the sim answered in its place`;
  const end =
    failure ??
    `${status ?? "no answer"}${location === null ? "" : ` to ${location}`}${isHtml(request) ? ", an HTML page" : ""}`;
  return `${method} ${url}: ${end}`;
}

export const requestEvidence = (request: SdkRequest, { visits }: Observations): CheckEvidence => ({
  text: requestText(request),
  url: visits[request.visit]?.url,
});

export const urlOf = ({ properties }: ArrivedEvent): string | undefined =>
  textIn(properties, "$current_url") || undefined;

export const eventEvidence = (event: ArrivedEvent, text: string): CheckEvidence => ({
  text,
  event: event.seq,
  request: event.request,
  url: urlOf(event),
});

/** Each text once. */
export const distinct = (evidence: readonly CheckEvidence[]): CheckEvidence[] => [
  ...new Map(evidence.map((it) => [it.text, it])).values(),
];
