import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import type { Warning } from "../../../src/model/outcome.ts";

/** The answers of the control API that this view shows. */

export interface Person {
  readonly uuid: string;
  readonly project: number;
  readonly distinct_ids: readonly string[];
  readonly is_identified: boolean;
  readonly created_at: string;
  readonly version: number;
  readonly properties: JsonObject;
}

export interface Group {
  readonly project: number;
  readonly type: string | null;
  readonly type_index: number;
  readonly key: string;
  readonly created_at: string;
  readonly properties: JsonObject;
}

export interface ShortEvent {
  readonly seq: number;
  readonly outcome: "kept" | "dropped";
  readonly reason: string | null;
  readonly warnings: readonly string[];
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly received_at: string;
  readonly person_mode: "full" | "propertyless" | "none";
  readonly request: number;
}

/** Without `from` it was not there before, without `to` it is gone. */
export interface PropertyChange {
  readonly property: string;
  readonly by: string;
  readonly from?: Json;
  readonly to?: Json;
}

export interface PropertyHistory {
  readonly property: string;
  readonly left_out: number;
  readonly values: readonly {
    readonly seq: number;
    readonly timestamp: string;
    readonly by: string;
    readonly value?: Json;
    readonly gone?: true;
  }[];
}

export type JoinOutcome = "created" | "attached" | "merged" | "same" | "refused";

/** Two ids that an event said are one person. */
export interface Join {
  readonly by: string;
  readonly other: string;
  readonly into: string;
  readonly outcome: JoinOutcome;
  readonly reason: Warning | null;
}

export interface DatedJoin extends Join {
  readonly seq: number;
  readonly timestamp: string;
}

export interface Step {
  readonly created: boolean;
  readonly identified: boolean;
  readonly join: Join | null;
  readonly changes: readonly PropertyChange[];
}

export interface TimelineEntry extends ShortEvent {
  readonly step: Step | null;
  readonly after: { readonly is_identified: boolean; readonly properties: JsonObject } | null;
  readonly is_known: boolean;
}

export type Origin = "event" | "scenario" | "unknown";

export interface Gap {
  readonly reason: string;
  readonly sentence: string;
}

export interface Timeline {
  readonly person: Person;
  readonly origin: Origin;
  readonly gaps: readonly Gap[];
  readonly elsewhere: JsonObject;
  readonly joins: readonly DatedJoin[];
  readonly properties: readonly PropertyHistory[];
  readonly events: readonly TimelineEntry[];
  readonly before: number | null;
}

export interface GroupDetails extends Group {
  readonly origin: Origin;
  readonly gaps: readonly Gap[];
  readonly history: readonly {
    readonly event: ShortEvent;
    readonly created: boolean;
    readonly changes: readonly PropertyChange[];
    readonly after: JsonObject;
  }[];
  readonly values: readonly PropertyHistory[];
  readonly events: readonly ShortEvent[];
  readonly searched: number;
}
