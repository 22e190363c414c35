import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import type { EventPattern, PropertiesPattern, Scope, VerifyOptions } from "../../lab/assert/events-api.ts";
import type { CheckedPattern } from "../../lab/assert/match/operators.ts";
import type { Report } from "../../lab/assert/match/report-shapes.ts";
import type { Plan } from "../../lab/plan/plan.ts";
import type { ProxyCheckOptions } from "../../lab/proxy-check/client.ts";
import type { UndecidableKind } from "../../lab/sessions/client.ts";
import type { Tenant } from "../../sim/client/api.ts";
import type { InsightExpectation, InsightOrQuery } from "./insight-expectation.ts";

/** Which events, and how long to wait. Nothing is polled: a wait ends with the event that ends it. */
export interface CaptureOptions extends Omit<VerifyOptions, "title" | "project"> {
  /** Only events of this distinct id. */
  distinctId?: string;
}

export interface IdentityOptions {
  /** How long to wait, ms. Default 4,000. */
  timeoutMs?: number;
}

export interface ContactOptions extends IdentityOptions {
  /** Only requests after this cursor (`requests.mark()`). */
  since?: number;
}

export interface ServedFlagOptions extends IdentityOptions {
  /** The distinct id it was served to (default: any). */
  distinctId?: string;
}

export interface RecordedOptions {
  /**
   * How long no part of a recording must have arrived before "nothing" counts as true, ms. Default 2,500: posthog-js
   * sends what it has recorded after 2,000.
   */
  quietMs?: number;
  /** How long to wait at most, ms (default: 1,500 more than `quietMs`, and never less than it). */
  timeoutMs?: number;
  /** Only the recording of the session with this id (default: all of the project). */
  session?: string;
  /** What may stay unread, because it cannot hold the values, such as images that are part of the app. */
  allowUnread?: readonly UndecidableKind[];
}

/** The matchers of a project or a sim. With `.not` they wait until the sim is quiet, then check once. */
interface TenantMatchers<R> {
  /** Such an event is captured, now or within the wait. With `.not`: there is none once it is quiet. */
  toHaveCaptured<E extends EventPattern, P extends PropertiesPattern>(
    event: CheckedPattern<E>,
    properties?: CheckedPattern<P>,
    options?: CaptureOptions,
  ): R;
  /** There are exactly `count` such events once it is quiet. */
  toHaveCapturedTimes<E extends EventPattern, P extends PropertiesPattern>(
    event: CheckedPattern<E>,
    count: number,
    properties?: CheckedPattern<P>,
    options?: CaptureOptions,
  ): R;
  /** One event for each pattern, in this order; others may come in between. */
  toHaveCapturedInOrder<E extends readonly EventPattern[]>(events: CheckedPattern<E>, options?: CaptureOptions): R;
  /**
   * These and no others: each at least as many times as it is in the list. Events whose names start with `$`
   * (`$pageview`, `$identify` …) do not count unless they are in the list.
   */
  toHaveCapturedOnly<E extends readonly EventPattern[]>(events: CheckedPattern<E>, options?: CaptureOptions): R;
  /** Every event was kept, and every request with events accepted. */
  toHaveNoDroppedEvents(options?: Pick<Scope, "since">): R;
  /** `$identify` was sent for this id, or a merge has identified its person, and the person has these properties. */
  toHaveIdentified<P extends PropertiesPattern>(
    distinctId: string,
    properties?: CheckedPattern<P>,
    options?: IdentityOptions,
  ): R;
  /** Both ids belong to one person. */
  toHaveMerged(distinctId: string, other: string, options?: IdentityOptions): R;
  /**
   * This flag was in an answer of `/flags` with this value (default: any; `false` is a value). A local evaluation of an
   * SDK counts as well, once it sends `$feature_flag_called`.
   */
  toHaveServedFlag(key: string, value?: boolean | string, options?: ServedFlagOptions): R;
  /**
   * An insight, by its name or as a query with its kind, shows this: `toHaveInsight("Basket to order", { steps: [3, 2, 1] })`.
   * A failure names what differs, and who left at which step of a funnel.
   */
  toHaveInsight(insight: InsightOrQuery, expected: InsightExpectation, options?: IdentityOptions): R;
  /**
   * What SDKs send arrives through this reverse proxy as it was sent, and the answers come back:
   * `toPassThroughProxy("http://localhost:3000/ingest")`. The proxy's upstream must be the sim; nothing of it is kept.
   */
  toPassThroughProxy(url: string, options?: ProxyCheckOptions): R;
  /** Something of a page was recorded, now or within the wait. With `.not`: nothing was, once it is quiet. */
  toHaveRecorded(options?: RecordedOptions): R;
  /**
   * No recording has any of these values: `toHaveRecordedNoneOf(["jane@acme.test", "4242 4242 4242 4242"])`. It fails
   * without a recording, and if a part of one cannot be read. A message names values by their number only.
   */
  toHaveRecordedNoneOf(values: readonly string[], options?: RecordedOptions): R;
  /** All captured events fit the tracking plan: one from `definePlan`, or the path of a plan file. */
  toMatchTrackingPlan(plan: Plan | string): R;
  /**
   * A request of an SDK has arrived, now or within the wait: events, configuration, flags, scripts, recordings. With
   * `.not`: none has once it is quiet; one without a project's key counts for every project that exists when it arrives.
   */
  toHaveBeenContacted(options?: ContactOptions): R;
  /**
   * Every request went to a path that the service has. A request belongs to the project of the key in its body, query,
   * path or bearer; one without such a key counts for every project that exists when it arrives.
   */
  toHaveNoUnmatchedRequests(): R;
}

/**
 * The matchers of `expect(project)`, or of `expect(sim)` for all projects; each returns a promise. Those of other values
 * cannot be called.
 */
export type SimMatchers<R, Received = Tenant> = {
  [Name in keyof TenantMatchers<R>]: Received extends Pick<Tenant, "events" | "settle">
    ? TenantMatchers<R>[Name]
    : never;
};

export interface RunnerState {
  readonly isNot?: boolean | undefined;
}

export interface MatcherResult {
  pass: boolean;
  message: () => string;
  /** Also `report` of the error that the runner throws. */
  report: MatcherReport;
}

/**
 * Why a matcher failed: the report of `ExpectationError`. Matchers that are not about expected events have its title,
 * text and hints, and what they looked at, such as `dropped` or `rejected`.
 */
export type MatcherReport = Pick<Report, "title" | "text" | "hints"> & Partial<Report>;

export interface MatcherCall {
  readonly tenant: Tenant;
  /** True with `.not`: then the sim must be quiet before "there is none" counts. */
  readonly isNot: boolean;
  /** The call as written, e.g. `not.toHaveCaptured("signup")`. */
  readonly title: string;
}

export interface MatcherOutcome {
  readonly pass: boolean;
  readonly text: string;
  /** What is known of a failure (default: title and text). */
  readonly report?: MatcherReport;
}

export const failedBy = (report: MatcherReport): MatcherOutcome => ({ pass: false, text: report.text, report });

/** Why nothing has arrived: what this process knows for certain, else the guesses, with what else it knows. */
export async function causesOr(
  { tenant, isNot }: MatcherCall,
  ...guesses: readonly string[]
): Promise<readonly string[]> {
  if (isNot) return guesses;
  const { certain, sdk, absent, queue } = await assertionsOf(tenant).known();
  if (certain.length > 0) return certain;
  return [...(sdk.length > 0 ? sdk : [...guesses, ...absent]), ...queue];
}

export const messageOf = ({ title }: MatcherCall, ...lines: readonly string[]): string =>
  [title, "", ...lines].join("\n");

export function reportIn(error: unknown): MatcherReport {
  // By its shape: a suite may contain two copies of this package, one of each module system.
  if (error instanceof Error && "report" in error && isReport(error.report)) return error.report;
  throw error;
}

const isReport = (value: unknown): value is MatcherReport =>
  typeof value === "object" && value !== null && "text" in value && typeof value.text === "string";
