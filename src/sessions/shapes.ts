import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import type { DropReason, Warning } from "../journal/outcome.ts";
import { OfProject } from "../journal/query-shapes.ts";
import { type LossReason, lossReasons, recordedKinds } from "./rrweb.ts";

const Time = z.iso.datetime();
const offset = z.int().min(0).default(0).describe("Index of the first result");

export const SessionQuery = z.strictObject({
  project: OfProject.optional().describe("Only the session of this project"),
});

export const SessionListQuery = z.strictObject({
  project: OfProject.optional(),
  person: z.string().optional().describe("Only sessions of the person with this uuid or distinct id"),
  search: z.string().optional().describe("Part of a session id or a distinct id"),
  recorded: z.boolean().optional().describe("Only sessions with, or without, a recording"),
  limit: z.int().min(1).max(1_000).default(100).describe("Maximum number of results"),
  offset,
});

const sessionFields = {
  id: z.string(),
  project: z.int().nullable(),
  distinct_ids: z.array(z.string()).describe("The latest first, at most 20"),
  person_id: z.string().nullable(),
  start: Time,
  end: Time,
  first_seq: z.int(),
  last_seq: z.int(),
  events: z.int().describe("Events, without the parts of the recording"),
  exceptions: z.int(),
  dropped: z.int(),
  recording: z
    .strictObject({ parts: z.int(), bytes: z.int(), windows: z.int(), source: z.string() })
    .nullable(),
  browser: z.string().nullable(),
  viewport: z.strictObject({ width: z.int(), height: z.int() }).nullable(),
  url: z.string().nullable().describe("The address of the first page that is known"),
};

export const StoredSession = z.strictObject(sessionFields).meta({ title: "StoredSession" });
export type StoredSession = z.infer<typeof StoredSession>;

const progress = {
  complete: z.boolean().describe("False if events were removed, or are still being read"),
  reading: z.boolean().describe("True if older events are still being read: ask again"),
};

export const StoredSessionPage = z
  .strictObject({ sessions: z.array(StoredSession), more: z.boolean(), ...progress })
  .meta({ title: "StoredSessionPage" });
export type StoredSessionPage = z.infer<typeof StoredSessionPage>;

const SessionPart = z
  .strictObject({
    seq: z.int().describe("The event that it is in the journal"),
    request: z.int(),
    window: z.string(),
    start: Time.describe("Time of its first event"),
    end: Time,
    bytes: z.int(),
    items: z.int().describe("Events of rrweb"),
    kinds: z.partialRecord(z.enum(recordedKinds), z.int()),
  })
  .meta({ title: "SessionPart" });
export type SessionPart = z.infer<typeof SessionPart>;

export const StoredSessionDetails = z
  .strictObject({
    ...sessionFields,
    ...progress,
    parts: z.array(SessionPart).describe("In order of arrival"),
    unlisted: z.int().describe("Number of events and parts above the limit: only counted"),
  })
  .meta({ title: "StoredSessionDetails" });
export type StoredSessionDetails = z.infer<typeof StoredSessionDetails>;

export const SessionEventsQuery = SessionQuery.extend({
  offset,
  limit: z.int().min(1).max(2_000).default(500).describe("Maximum number of results"),
});

const SessionEvent = z
  .strictObject({
    seq: z.int(),
    request: z.int(),
    event: z.string(),
    timestamp: Time,
    outcome: z.enum(["kept", "dropped"]),
    reason: z.custom<DropReason>().meta({ type: "string" }).nullable(),
    warnings: z.array(z.custom<Warning>().meta({ type: "string" })),
    window: z.string().nullable(),
    url: z.string().nullable(),
    title: z.string().nullable(),
    text: z.string().describe("What the event holds, in a few words"),
  })
  .meta({ title: "SessionEvent" });
export type SessionEvent = z.infer<typeof SessionEvent>;

export const SessionEventPage = z
  .strictObject({
    events: z.array(SessionEvent),
    next: z.int().nullable().describe("`offset` of the next page"),
  })
  .meta({ title: "SessionEventPage" });
export type SessionEventPage = z.infer<typeof SessionEventPage>;

export const RecordingQuery = SessionQuery.extend({
  from: z.int().min(0).default(0).describe("Index of the first part"),
});

const Missing = z.strictObject({
  seq: z.int(),
  reason: z.enum(Object.keys(lossReasons) as [LossReason, ...LossReason[]]),
  what: z.string(),
  count: z.int(),
});

const DecodedPartShape = z.strictObject({
  seq: z.int(),
  window: z.string(),
  shift_ms: z.number().describe("Time of the journal minus time of the browser"),
  events: z
    .array(
      z.strictObject({
        type: z.int(),
        timestamp: z.number(),
        data: z.custom<JsonObject>().meta({ type: "object" }),
      }),
    )
    .describe("Events of rrweb, decompressed"),
});

export const RecordingPage = z
  .strictObject({
    parts: z.array(DecodedPartShape),
    missing: z.array(Missing),
    next: z.int().nullable().describe("`from` of the next page"),
  })
  .meta({ title: "RecordingPage" });
export type RecordingPage = z.infer<typeof RecordingPage>;
