import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { Stepwise } from "../../kernel/base/work.ts";
import type { DropReason, Warning } from "../../state/journal/drop-reasons.ts";
import type { LintCode } from "./codes.ts";

/** An event as it was sent, and its outcome. */
export interface LintEvent {
  seq: number;
  event: string;
  distinct_id: string;
  /** null if the sender set none. */
  uuid: string | null;
  /** When it happened, ms since the epoch, as the sim understood it. */
  time: number;
  /** The timestamp as it was sent, if it was a string. */
  timestamp: string | undefined;
  dropped: DropReason | undefined;
  warnings: readonly Warning[];
  properties: JsonObject;
  /** `$set` and `$set_once` next to the properties. */
  set: JsonObject | undefined;
  setOnce: JsonObject | undefined;
}

/** Flags that were served to a client for an id. */
export interface Serving {
  distinctId: string;
  anonymousId: string | undefined;
  /** Flags that the request names. */
  requested: readonly string[];
  /** undefined: they cannot be read from the journal. */
  values: ReadonlyMap<string, boolean | string> | undefined;
}

/** A request as the rules see it. Requests without a project are not examined. */
export interface LintRequest {
  n: number;
  /** Times of arrival and of the answer, ms since the epoch. */
  at: number;
  answeredAt: number;
  project: number;
  /** Approximate size of the decoded body. */
  bytes: number;
  /** Largest accepted size; undefined if the endpoint takes no events. */
  mostBytes: number | undefined;
  /** True if it is marked as a `historical_migration`. */
  isHistorical: boolean;
  /** True if its events' times can be compared with its arrival: false if the sim's clock is set and there is no `sent_at`. */
  isTimed: boolean;
  /** `posthog-node`, from the User-Agent; undefined for browsers and unknown clients. */
  sender: string | undefined;
  serving: Serving | undefined;
  /** True if the sender fetched flag definitions, for local evaluation. */
  fetchesDefinitions: boolean;
  events: readonly LintEvent[];
  /** Parts of recordings: what the recorder sent, still compressed. */
  recorded: readonly RecordedPart[];
}

export interface RecordedPart {
  readonly seq: number;
  readonly items: readonly Json[];
}

/** A mistake that a rule found in an event, or in a request. */
export interface Remark {
  code: LintCode;
  /** Name of the event; null for a request. */
  event: string | null;
  /** The part that is wrong; remarks with equal code, event and subject make one finding. */
  subject: string;
  /** The observation, without captured values that may be private. */
  detail: string;
  seq: number | null;
}

/** Collects remarks. */
export interface Remarks {
  report(remark: Remark): void;
  /** Removes the remarks with this code and subject, of every event. */
  withdraw(code: LintCode, subject: string): void;
}

/** Examines the requests of one project, in order; what it remembers is bounded. */
export interface Rule {
  /** In steps if it may take long. */
  examine(request: LintRequest, remarks: Remarks): Stepwise<void> | undefined;
}

/** A variant of a flag and its share of the persons, in percent. */
export interface VariantShare {
  readonly variant: string;
  readonly percentage: number;
}

export interface LintPort {
  /** True if the project has the group. */
  hasGroup(project: number, type: string, key: string): boolean;
  /** The shares of a flag's variants; undefined if something else decides: an override, a condition, groups. */
  variantShares(project: number, flag: string): readonly VariantShare[] | undefined;
  /** The flags of running experiments with a metric that counts these events. */
  flagsMeasuredBy(project: number, event: string): readonly string[];
}

/** Arguments of a project's rules. */
export interface RuleContext {
  project: number;
  port: LintPort;
  /** True if every request of the project was examined, from its first on. */
  isWhole(): boolean;
}
