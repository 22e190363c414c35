import { z } from "zod";
import type { DropReason } from "../../../state/journal/drop-reasons.ts";

/** The number of events that an expectation allows. */
export const Count = z.strictObject({
  min: z.int().optional().describe("At least this many (default: no limit)"),
  max: z.int().optional().describe("At most this many (default: no limit)"),
});
export type Count = z.infer<typeof Count>;

export const Sighting = z
  .strictObject({
    seq: z.int(),
    event: z.string(),
    distinct_id: z.string(),
    project: z.int().nullable(),
    received_at: z.iso.datetime(),
  })
  .meta({ title: "Sighting" });
export type Sighting = z.infer<typeof Sighting>;

/** One place where a value is not as expected. */
export const Difference = z.strictObject({
  path: z.string().describe('`properties.amount`, `properties.items[2].sku`; the whole event has the path ""'),
  expected: z.string().describe('As in code: `49`, `"pro"`, `Any<Number>`, `@gte 10`'),
  actual: z.string().nullable().describe("As in code; null if there is no value"),
  hint: z
    .string()
    .nullable()
    .describe('What is odd, in a few words: `number as a string`, `case differs`, `did you mean "plan"?`'),
});
export type Difference = z.infer<typeof Difference>;

export const NearMiss = z.strictObject({
  seq: z.int(),
  event: z.string(),
  distinct_id: z.string(),
  received_at: z.iso.datetime(),
  score: z.number().describe("From 0 (nothing in common) to 1 (it fits)"),
  differences: z.array(Difference),
});
export type NearMiss = z.infer<typeof NearMiss>;

export const DroppedSighting = Sighting.extend({
  reason: z.custom<DropReason>().meta({ type: "string" }),
  sentence: z.string(),
  fix: z.string(),
  fits: z.boolean().describe("True if it would fit, had it been kept"),
}).meta({ title: "DroppedSighting" });
export type DroppedSighting = z.infer<typeof DroppedSighting>;

const counted = {
  expectation: z.int().describe("Index of the expectation"),
  wanted: Count,
  got: z.int(),
  events: z.array(Sighting),
};

export const Complaint = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("too_few"), ...counted }),
  z.strictObject({ kind: z.literal("too_many"), ...counted }),
  z.strictObject({
    kind: z.literal("out_of_order"),
    expectation: z.int(),
    after: z.int().describe("The expectation that it should follow"),
    event: Sighting,
    previous: Sighting,
  }),
  z.strictObject({ kind: z.literal("unexpected"), events: z.array(Sighting), total: z.int() }),
  z.strictObject({
    kind: z.literal("ended_key"),
    name: z.string().describe("The ended project, e.g. the test's name"),
    api_key: z.string(),
    sent: z.array(z.string()).describe("Names of the events that were sent with its key"),
  }),
  z.strictObject({
    kind: z.literal("wrong_key"),
    api_key: z.string().describe("A key that no project has"),
    expected: z.string().nullable().describe("The project's key; null: the assertion is about all projects"),
    sent: z.array(z.string()).describe("Names of the events that were sent with it"),
  }),
]);
export type Complaint = z.infer<typeof Complaint>;

const request = { n: z.int(), method: z.string(), target: z.string() };
const hint = z.string().optional();

const keyUse = {
  api_key: z.string(),
  events: z.array(z.string()),
  requests: z.array(z.int()).describe("Their numbers, newest first"),
  certain: z.boolean().describe("False if another test's SDK may have sent them"),
};

const surroundingFields = {
  project: z
    .strictObject({ id: z.int(), name: z.string(), api_key: z.string() })
    .nullable()
    .describe("The project whose events count; null: all"),
  since: z.int().describe("Only events after this cursor count"),
  waited_ms: z.int().nullable().describe("null if there was no wait"),
  url: z.string().describe("Address of the sim"),
  inspectable: z.boolean().describe("True if the sim outlives the tests, so that a link to its inspector works"),
  early: z.array(Sighting).describe("Fit, but came before the cursor"),
  late: z.array(Sighting.extend({ ms_late: z.int().optional() })).describe("Fit, but came after the wait was over"),
  elsewhere: z
    .array(Sighting.extend({ api_key: z.string().nullable().optional() }))
    .describe("Fit, but were kept in another project; with its public key"),
  ended: z
    .array(
      z.strictObject({
        name: z.string(),
        ...keyUse,
        late: z.boolean().describe("True if all of them are from before the project's end, or another process's"),
      }),
    )
    .describe("Keys of ended projects that were used: an SDK that tests share, or that sends late"),
  wrong_keys: z.array(z.strictObject(keyUse)).describe("Keys that no project has or had"),
  rejected: z
    .array(z.strictObject({ ...request, reason: z.string(), detail: z.string(), hint }))
    .describe("Requests that were rejected whole, newest first"),
  unmatched: z
    .array(z.strictObject({ ...request, hint }))
    .describe("Requests to paths that do not exist, newest first"),
  requests: z.int().describe("Number of requests after the cursor, without those that ended projects have sent late"),
  in_flight: z.int(),
  last_request_ms_ago: z.int().nullable(),
  senders: z
    .array(z.strictObject({ lib: z.string(), version: z.string().nullable() }))
    .describe("Libraries that sent requests, newest first"),
  faults: z
    .array(z.strictObject({ name: z.string(), touched: z.int() }))
    .describe("Active faults, with the number of requests each affected"),
  evicted: z.boolean().describe("True if events after the cursor were removed: cleared, or over the limit"),
};

export const Surroundings = z.strictObject(surroundingFields).meta({ title: "Surroundings" });
export type Surroundings = z.infer<typeof Surroundings>;

export const Report = z
  .strictObject({
    title: z.string().describe('The assertion: `toHaveCaptured("signup", {plan: "pro"})`'),
    text: z.string().describe("The whole report as text, ready to print"),
    wanted: z.array(z.string()).describe("The expectations as in code, by their index"),
    complaints: z.array(Complaint),
    near_misses: z.array(NearMiss).describe("The nearest events, best first"),
    seen: z.record(z.string(), z.int()).describe("The number of kept events by name"),
    dropped: z.array(DroppedSighting),
    hints: z.array(z.string()).describe("Possible causes, and what to do"),
    ...surroundingFields,
  })
  .meta({ title: "Report" });
export type Report = z.infer<typeof Report>;
