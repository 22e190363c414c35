import { z } from "zod";
import { StoredPerson } from "../person-history/shapes.ts";

/** The rows of a journey; `other`: events of SDKs without a row of their own. */
const lanes = ["page", "click", "own", "flag", "request", "problem", "identity", "other"] as const;

export const JourneyQuery = z.strictObject({
  project: z.int().min(0).optional().describe("Only the person of this project"),
  session: z.string().min(1).optional().describe("Only what has this `$session_id`, and requests meanwhile"),
});

const Moment = z.strictObject({
  lane: z.enum(lanes),
  at: z.iso.datetime().describe("Its own time; of a request, and with a damaged clock, its arrival"),
  clock: z
    .enum(["ahead", "behind"])
    .nullable()
    .describe("Its own time is an hour or more after its arrival, or before 2000: its arrival is shown"),
  seq: z.int().nullable().describe("Number of the event; null for a request"),
  request: z.int().describe("Number of the request"),
  name: z.string().describe("Name of the event, or method and path"),
  text: z.string().describe("What it is about: a path, a text, a message"),
  session: z.string().nullable(),
  distinct_id: z.string().nullable(),
  outcome: z.enum(["kept", "warned", "dropped", "rejected"]),
  reason: z.string().nullable().describe("Why it was dropped or rejected, or the first warning"),
  status: z.int().nullable().describe("Of a request"),
  events: z.int().nullable().describe("Events that a request carried; null for an event"),
});
export type JourneyMoment = z.infer<typeof Moment>;

const FlagSpan = z.strictObject({
  value: z.union([z.boolean(), z.string()]),
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable().describe("null: in force until the end"),
  why: z.string().nullable(),
  request: z.int().describe("Number of the request whose response had the value"),
});
export type FlagSpan = z.infer<typeof FlagSpan>;

const FlagInForce = z.strictObject({
  key: z.string(),
  used: z.int().describe("How often the app used it, as `$feature_flag_called` reports"),
  spans: z.array(FlagSpan).describe("Oldest first"),
});
export type FlagInForce = z.infer<typeof FlagInForce>;

export const Journey = z
  .strictObject({
    person: StoredPerson,
    moments: z.array(Moment).describe("Oldest first"),
    left_out: z.int().describe("Older moments that are left out"),
    is_all: z.boolean().describe("False: older events or requests were not searched"),
    flags: z.array(FlagInForce).describe("Flag values in force"),
    flags_left_out: z.int().describe("Flags that are left out"),
  })
  .meta({ title: "Journey" });
export type Journey = z.infer<typeof Journey>;
