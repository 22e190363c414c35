import type { FlagDecision } from "../../service/flags/decision-shapes.ts";
import type { SimRequest } from "../../state/journal/request-shapes.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { RunVerdict } from "./shapes.ts";

/** An event of a report; properties that are too large in total are left out. */
export type ReportedEvent = Omit<StoredEvent, "person_id" | "person_mode" | "uuid" | "properties"> & {
  readonly properties: StoredEvent["properties"] | null;
};

export type ReportedRequest = Omit<SimRequest, "partition">;

export type ReportedDecision = Pick<FlagDecision, "at" | "request" | "project" | "distinct_id" | "by"> & {
  readonly flags: readonly (Pick<FlagDecision["flags"][number], "key" | "value"> & {
    readonly reason: string | null;
  })[];
};

export interface ReportData {
  readonly verdict: RunVerdict;
  /** In order of arrival. */
  readonly events: readonly ReportedEvent[];
  readonly requests: readonly ReportedRequest[];
  readonly decisions: readonly ReportedDecision[];
  readonly left_out: {
    readonly events: number;
    readonly requests: number;
    /** True if there may be older decisions. */
    readonly decisions: boolean;
    readonly properties: number;
  };
}
