import type { SimRequest } from "../../state/journal/request-shapes.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { RunVerdict } from "./shapes.ts";

/** An event of a report; properties that are too large in total are left out. */
export type ReportedEvent = Pick<
  StoredEvent,
  | "seq"
  | "outcome"
  | "reason"
  | "detail"
  | "warnings"
  | "project"
  | "event"
  | "distinct_id"
  | "timestamp"
  | "received_at"
  | "request"
> & { readonly properties: StoredEvent["properties"] | null };

export type ReportedRequest = Pick<
  SimRequest,
  | "n"
  | "at"
  | "method"
  | "target"
  | "status"
  | "ms"
  | "project"
  | "outcome"
  | "rejected"
  | "fault"
  | "scripted"
  | "source"
  | "events"
  | "dropped"
>;

/** The flags of one decision. */
export interface ReportedDecision {
  readonly at: string;
  readonly request: number;
  readonly project: number | null;
  readonly distinct_id: string | null;
  readonly by: "answer" | "local_evaluation";
  readonly flags: readonly {
    readonly key: string;
    readonly value: boolean | string | null;
    readonly reason: string | null;
  }[];
}

/** What the report's page shows. */
export interface ReportData {
  readonly verdict: RunVerdict;
  /** In order of arrival. */
  readonly events: readonly ReportedEvent[];
  readonly requests: readonly ReportedRequest[];
  readonly decisions: readonly ReportedDecision[];
  /** What the limits left out. */
  readonly left_out: {
    readonly events: number;
    readonly requests: number;
    /** True if there may be older decisions. */
    readonly decisions: boolean;
    /** Number of events without their properties. */
    readonly properties: number;
  };
}
