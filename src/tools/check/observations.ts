import type { LintFinding } from "../../lab/lint/shapes.ts";
import type { SimRequest } from "../../state/journal/request-shapes.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { ProbeNote, SdkState } from "./browser/probe.ts";

/** Kinds of requests of the SDK, by their path. */
export type SdkRequestKind = "events" | "flags" | "recording" | "config" | "script" | "other";

export type SdkRequestPlace =
  /** A host of PostHog's. */
  | "service"
  /** The sim, whose address the app got. */
  | "sim"
  /** The app's own server, or another one on this machine. */
  | "proxy"
  /** Another host: the sim answers in its place. */
  | "elsewhere";

/** A request of posthog-js, as the browser made it. */
export interface SdkRequest {
  readonly visit: number;
  readonly method: string;
  /** Keys are masked, except the public one. */
  readonly url: string;
  readonly host: string;
  /** What is before the service's own path: `/ingest`; "" for none. */
  readonly prefix: string;
  readonly kind: SdkRequestKind;
  readonly place: SdkRequestPlace;
  /** True if the sim answered without the app's server. */
  readonly byUs: boolean;
  /** Keys that it carries. */
  readonly keys: readonly string[];
  readonly status: number | null;
  readonly contentType: string | null;
  /** Target of a redirect. */
  readonly location: string | null;
  readonly failure: string | null;
}

/** A page that was opened, or a view of an app that changes its own address. */
export interface Visit {
  readonly url: string;
  /** `load`: a document; `history`: the app changed the address; `click`: something was clicked. */
  readonly how: "load" | "history" | "reload" | "click";
  /** Of the document; null if it did not load. */
  readonly status: number | null;
  readonly title: string;
  readonly failure: string | null;
  readonly sdk: SdkState;
  readonly notes: readonly ProbeNote[];
  /** Errors and warnings of the console, errors of scripts. */
  readonly console: readonly ConsoleLine[];
}

export interface ConsoleLine {
  readonly level: "error" | "warning";
  readonly text: string;
}

export interface ArrivedEvent extends StoredEvent {
  /** Number of the visit; null if no page was open, or a server sent it. */
  readonly visit: number | null;
}

/** The app, as far as it was started. */
export interface AppObservations {
  /** The command; null if the app was running already. */
  readonly command: string | null;
  /** Exit code of a command that ended on its own. */
  readonly exitCode: number | null;
  /** Its last lines, for a command that failed. */
  readonly output: readonly string[];
  /** PostHog's libraries in package.json. */
  readonly libraries: readonly { readonly name: string; readonly version: string }[];
}

export interface Observations {
  readonly app: AppObservations;
  readonly visits: readonly Visit[];
  readonly requests: readonly SdkRequest[];
  readonly events: readonly ArrivedEvent[];
  readonly rejected: readonly SimRequest[];
  readonly lint: readonly LintFinding[];
  /** Keys that the sim gave to the app: they are valid. */
  readonly ownKeys: readonly string[];
  /** Clicks for which there was no element. */
  readonly missedClicks: readonly string[];
  /** Pages that were found and not opened. */
  readonly unopened: number;
}
