import type { EventPattern, PropertiesPattern, Scope, Tenant, VerifyOptions } from "../client/api.ts";
import type { Checked } from "../match/operators.ts";
import type { Plan } from "../plan/types.ts";

/** Where to look, and how long to wait. Nothing is polled: a wait ends with the event that ends it. */
export interface CaptureOptions extends Omit<VerifyOptions, "title" | "project"> {
  /** Only events of this distinct id. */
  distinctId?: string;
}

export interface IdentityOptions {
  /** How long to wait, ms. Default 4,000. */
  timeoutMs?: number;
}

export interface ServedFlagOptions extends IdentityOptions {
  /** To whom; anybody unless told. */
  distinctId?: string;
}

/** A matcher of a project or a sim; what was received decides whether it can be called. */
type OnTenant<Received, Matcher> = Received extends Pick<Tenant, "events" | "settle"> ? Matcher : never;

/**
 * What `expect(project)`, or `expect(sim)` for all projects, can say; each returns a promise. With `.not` they wait
 * until the sim is quiet, then look once.
 */
export interface SimMatchers<R, Received = Tenant> {
  /** Is such an event captured, now or within the wait? With `.not`: is there none once it is quiet? */
  toHaveCaptured: OnTenant<
    Received,
    <E extends EventPattern, P extends PropertiesPattern>(
      event: Checked<E>,
      properties?: Checked<P>,
      options?: CaptureOptions,
    ) => R
  >;
  /** Are there exactly so many such events once it is quiet? */
  toHaveCapturedTimes: OnTenant<
    Received,
    <E extends EventPattern, P extends PropertiesPattern>(
      event: Checked<E>,
      count: number,
      properties?: Checked<P>,
      options?: CaptureOptions,
    ) => R
  >;
  /** One event for each pattern, in this order; others may come in between. */
  toHaveCapturedInOrder: OnTenant<
    Received,
    <E extends readonly EventPattern[]>(events: Checked<E>, options?: CaptureOptions) => R
  >;
  /**
   * These and no others: each at least once, or as often as it is in the list. Events whose names start with `$`
   * (`$pageview`, `$identify` …) do not count unless they are in the list.
   */
  toHaveCapturedOnly: OnTenant<
    Received,
    <E extends readonly EventPattern[]>(events: Checked<E>, options?: CaptureOptions) => R
  >;
  /** Was every event kept, and every request that carried some taken? */
  toHaveNoDroppedEvents: OnTenant<Received, (options?: Pick<Scope, "since">) => R>;
  /**
   * Was `$identify` sent for this id, or has a merge identified its person? And has the person these properties?
   */
  toHaveIdentified: OnTenant<
    Received,
    <P extends PropertiesPattern>(distinctId: string, properties?: Checked<P>, options?: IdentityOptions) => R
  >;
  /** Do both ids belong to one person? */
  toHaveMerged: OnTenant<Received, (distinctId: string, other: string, options?: IdentityOptions) => R>;
  /**
   * Was this flag in an answer of `/flags` with this value (any, if not told)? An evaluation that an SDK made by
   * itself counts as well, once it says so with `$feature_flag_called`. `false` is a value, too.
   */
  toHaveServedFlag: OnTenant<
    Received,
    (key: string, value?: boolean | string, options?: ServedFlagOptions) => R
  >;
  /** Do all captured events fit the tracking plan: one that `definePlan` made, or the path of a plan file? */
  toMatchTrackingPlan: OnTenant<Received, (plan: Plan | string) => R>;
  /**
   * Did every request go to a path that the service has? A request belongs to the project of the key in its body,
   * query, path or bearer; one without such a key counts for every project that exists when it arrives.
   */
  toHaveNoUnmatchedRequests: OnTenant<Received, () => R>;
}

/** What a test runner tells a matcher. */
export interface RunnerState {
  readonly isNot?: boolean | undefined;
}

/** What a matcher tells a test runner. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
}
