import { z } from "zod";
import type { Json } from "../../kernel/base/json.ts";
import { WaitMs } from "../../state/journal/query-shapes.ts";
import { ProjectNumber, Value } from "./shapes.ts";

const Properties = z.record(z.string(), z.custom<Json>());
const FaultNames = z.string().nullable().describe("Names of the faults that affected the request");
const RequestNumber = z.int().describe("Number of the request");
const EventNumber = z.int().nullable().describe("Number of the event that reported it; null for a response");
const DecidedBy = z
  .enum(["answer", "local_evaluation"])
  .describe("A response of /flags or /decide, or an SDK that evaluates flags locally and reports it with an event");

const OfProject = ProjectNumber.optional().describe("Only of this project");

export const DecisionSelection = z.strictObject({
  project: OfProject,
  key: z.string().optional().describe("Only this flag"),
  distinct_id: z.string().optional().describe("Only decisions for this distinct id"),
  before: z.int().min(1).optional().describe("Only decisions before this request"),
  since: z.int().min(0).optional().describe("Only decisions after this request"),
  limit: z.int().min(1).max(500).optional().describe("At most N (default: 50); those of one request stay together"),
});
export type DecisionSelection = z.infer<typeof DecisionSelection>;

export const ServedQuery = z.strictObject({
  project: OfProject,
  distinct_id: z.string().optional().describe("Only values for this distinct id"),
  value: z
    .string()
    .optional()
    .describe("`true`, `false` or a variant, also as a JSON string: the requested value (default: any)"),
  wait_ms: WaitMs.optional().describe("Waits up to N ms for the value (default: 0)"),
  limit: z.int().min(1).max(1_000).optional().describe("At most N (default: 20)"),
});
export type ServedQuery = z.infer<typeof ServedQuery>;

export const FlagServing = z.strictObject({
  by: DecidedBy,
  at: z.iso.datetime(),
  request: RequestNumber,
  seq: EventNumber,
  project: z.int().nullable(),
  distinct_id: z.string().nullable(),
  value: Value.nullable().describe("null: the response did not have the flag"),
  status: z.int(),
  fault: FaultNames,
});
export type FlagServing = z.infer<typeof FlagServing>;

export const FlagServings = z
  .strictObject({
    key: z.string(),
    fits: z.boolean().describe("True if one has the requested value"),
    served: z.array(FlagServing).describe("Newest first"),
  })
  .meta({ title: "FlagServings" });
export type FlagServings = z.infer<typeof FlagServings>;

const FlagsAsked = z.strictObject({
  person_properties: Properties,
  groups: Properties.describe("Keys of groups by group type, as sent"),
  group_properties: Properties,
  device_id: z.string().nullable(),
  anon_distinct_id: z.string().nullable(),
  ip: z.string().nullable().describe("Address of the caller; null with `geoip_disable`"),
  keys: z.array(z.string()).nullable().describe("Only these flags; null: all"),
});
export type FlagsAsked = z.infer<typeof FlagsAsked>;

const DecidedFlag = z.strictObject({
  key: z.string(),
  value: Value.nullable().describe("null: an SDK had no value"),
  payload: z.string().nullable().describe("JSON text"),
  reason: z
    .strictObject({ code: z.string(), description: z.string() })
    .nullable()
    .describe("null where it is not known: only /flags?v=2 and SDKs give one"),
  condition_index: z.int().nullable().describe("Which condition set decided, from 0"),
  failed: z.boolean(),
});
export type DecidedFlag = z.infer<typeof DecidedFlag>;

const FlagCall = z
  .strictObject({
    seq: z.int().describe("Number of the `$feature_flag_called` event"),
    request: z.int().describe("Number of the request that carried it"),
    at: z.iso.datetime(),
    key: z.string(),
    response: Value.nullable().describe("The value that the app got; null: none"),
    differs: z.boolean().describe("True if the decision was another value"),
  })
  .meta({ title: "FlagCall" });
export type FlagCall = z.infer<typeof FlagCall>;

const FlagDecision = z
  .strictObject({
    by: DecidedBy,
    at: z.iso.datetime(),
    request: RequestNumber,
    seq: EventNumber,
    project: z.int().nullable(),
    distinct_id: z.string().nullable(),
    client: z.string().nullable().describe("User-Agent of the client"),
    status: z.int(),
    rejected: z.string().nullable().describe("Why the request was rejected"),
    fault: FaultNames,
    has_errors: z.boolean().describe("True if the response has `errorsWhileComputingFlags`"),
    asked: FlagsAsked.nullable().describe("null for an evaluation by an SDK"),
    flags: z.array(DecidedFlag),
    called: z.array(FlagCall).describe("The uses of these flags that followed, newest first"),
  })
  .meta({ title: "FlagDecisionMade" });
export type FlagDecision = z.infer<typeof FlagDecision>;

export const FlagDecisions = z
  .strictObject({
    decisions: z.array(FlagDecision).describe("Newest first"),
    before: z.int().nullable().describe("Value of `before` for the next page; null: there are no more"),
  })
  .meta({ title: "FlagDecisionsMade" });
export type FlagDecisions = z.infer<typeof FlagDecisions>;

const FlagTotal = z.strictObject({
  project: z.int().nullable(),
  key: z.string(),
  served: z.int().describe("How often it was in a response, or evaluated by an SDK"),
  called: z.int().describe("How often an app used it, as `$feature_flag_called` reports"),
  differs: z.int().describe("Uses with a value other than the decision"),
  values: z
    .array(
      z.strictObject({
        value: Value.nullable().describe("null: an app got no value"),
        served: z.int(),
        called: z.int(),
      }),
    )
    .describe("The most frequent ones first"),
});
export type FlagTotal = z.infer<typeof FlagTotal>;

export const FlagTotals = z
  .strictObject({
    complete: z
      .boolean()
      .describe("False: a part was not counted yet, or can no longer be read, and there are at least as many"),
    counting: z.boolean().describe("True: a part was not counted yet; the next call continues"),
    flags: z.array(FlagTotal).describe("In no order"),
  })
  .meta({ title: "FlagDecisionTotals" });
export type FlagTotals = z.infer<typeof FlagTotals>;

const band = {
  expected: z.number().describe("What a fair draw gives on average"),
  low: z.number().describe("95 of 100 fair draws give at least this"),
  high: z.number().describe("95 of 100 fair draws give at most this"),
  verdict: z
    .enum(["as_expected", "unlikely", "too_few"])
    .describe("`unlikely`: outside of the band; `too_few`: there are too few to tell"),
};

const SeenRollout = z.strictObject({
  percentage: z.number(),
  threshold: z.number().describe("In if the hash is not above it"),
  unit: z.string().describe("What is hashed: `distinct id`, `device id`, or the name of a group type"),
  count: z.int().describe("Different ones that were seen"),
  without: z.int().describe("Ids that have nothing to hash"),
  within: z.int().describe("Those whose hash is not above the threshold"),
  bins: z.array(z.int()).describe("How many hashes lie in each twentieth of [0, 1]"),
  ...band,
});
export type SeenRollout = z.infer<typeof SeenRollout>;

const SeenSet = z.strictObject({
  index: z.int().describe("From 0"),
  reached: z.int().describe("Ids that no condition set before decided"),
  taken: z.int().describe("Of these, ids that it gives the flag to"),
  rollout: SeenRollout.nullable().describe("null: nothing is hashed, all or none are in"),
});

const SeenVariant = z.strictObject({
  variant: z.string().nullable().describe("null: on, without a variant"),
  share: z.number().describe("In [0, 1]"),
  seen: z.int(),
  ...band,
});
export type SeenVariant = z.infer<typeof SeenVariant>;

export const FlagSeen = z
  .strictObject({
    project: z.int(),
    key: z.string(),
    active: z.boolean().describe("False: no id gets it, and nothing is counted"),
    ids: z.int().describe("Distinct ids that were seen in requests for flags and in events"),
    asked: z.int().describe("Of these, ids that a decision about this flag was for"),
    last_asked: z.iso.datetime().nullable(),
    is_all: z.boolean().describe("False: there may be more ids; the newest were counted"),
    sets: z.array(SeenSet),
    enrolled: z.int().describe("Ids that early access decided"),
    held_out: z.int(),
    failed: z.int().describe("Ids for which it cannot be computed"),
    off: z.int().describe("All other ids: no condition set gives it to them"),
    variants: z
      .strictObject({
        unit: z.string(),
        count: z.int().describe("Different ones whose hash draws the variant"),
        rows: z.array(SeenVariant),
      })
      .nullable()
      .describe("null: no variants"),
  })
  .meta({ title: "FlagSeen" });
export type FlagSeen = z.infer<typeof FlagSeen>;
