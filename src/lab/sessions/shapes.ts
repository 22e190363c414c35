import { z } from "zod";
import type { JsonObject } from "../../kernel/base/json.ts";
import type { DropReason, Warning } from "../../state/journal/drop-reasons.ts";
import { OfProject } from "../../state/journal/query-shapes.ts";
import {
  type LossReason,
  lossReasons,
  recordedKinds,
  recordedPlaces,
  undecidable,
  unreadableNames,
  unreadables,
  writings,
} from "./rrweb.ts";

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

export type SessionListQuery = z.infer<typeof SessionListQuery>;

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
  recording: z.strictObject({ parts: z.int(), bytes: z.int(), windows: z.int(), source: z.string() }).nullable(),
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
  .strictObject({ events: z.array(SessionEvent), next: z.int().nullable().describe("`offset` of the next page") })
  .meta({ title: "SessionEventPage" });
export type SessionEventPage = z.infer<typeof SessionEventPage>;

export const RecordingQuery = SessionQuery.extend({
  from: z.int().min(0).default(0).describe("Index of the first part"),
});

const Reason = z.enum(Object.keys(lossReasons) as [LossReason, ...LossReason[]]);

const Missing = z.strictObject({ seq: z.int(), reason: Reason, what: z.string(), count: z.int() });

const DecodedPartShape = z.strictObject({
  seq: z.int(),
  window: z.string(),
  shift_ms: z.number().describe("Time of the journal minus time of the browser"),
  events: z
    .array(
      z.strictObject({ type: z.int(), timestamp: z.number(), data: z.custom<JsonObject>().meta({ type: "object" }) }),
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

export const RecordingListQuery = SessionListQuery.omit({ recorded: true });
export type RecordingListQuery = z.input<typeof RecordingListQuery>;

export const StoredRecordingPage = z
  .strictObject({ recordings: z.array(StoredSession), more: z.boolean(), ...progress })
  .meta({ title: "StoredRecordingPage" });
export type StoredRecordingPage = z.infer<typeof StoredRecordingPage>;

const expectedValue = "a string with 3 to 1,000 characters";

export const RecordingSearchOrder = z.strictObject({
  values: z
    .array(z.string(expectedValue).trim().min(3, expectedValue).max(1_000, expectedValue))
    .min(1, "at least one value")
    .max(200, "at most 200 values")
    .describe("What must not be recorded. Upper and lower case differ"),
  project: OfProject.nullish(),
  session: z.string().nullish().describe("Only the recording of this session"),
  allow_unread: z
    .array(z.enum(undecidable))
    .default([])
    .describe("What may stay unread, because it cannot hold the values, such as images that are part of the app"),
});

const RecordingLoss = z.strictObject({
  session: z.string().nullable(),
  seq: z.int().nullable().describe("The part"),
  reason: Reason,
  what: z.string(),
  count: z.int(),
});
export type RecordingLoss = z.infer<typeof RecordingLoss>;

const contents = {
  texts: z.partialRecord(z.enum(recordedPlaces), z.int()).describe("Number of texts that were read"),
  unread: z
    .partialRecord(z.enum(unreadableNames), z.int())
    .describe(
      `What is in it and cannot be read as text. ${unreadableNames.map((it) => `\`${it}\`: ${unreadables[it]}`).join(", ")}`,
    ),
  missing: z.array(RecordingLoss).describe("What could not be read, because it is damaged or not kept"),
};

const RecordingFind = z
  .strictObject({
    value: z.int().describe("Number of the value in `values`, from 1"),
    session: z.string(),
    project: z.int().nullable(),
    window: z.string(),
    seq: z.int().describe("The part"),
    place: z.enum(recordedPlaces).describe("What holds it"),
    path: z.string().nullable().describe("Selector of the element"),
    name: z.string().nullable().describe("Its attribute, or the place in a request, message or custom event"),
    writing: z
      .enum(writings)
      .describe("As text, as digits with other separators, or escaped as in a URL, HTML, CSS or JSON"),
    time: Time,
    offset_ms: z.int().describe("From the start of the session"),
    count: z.int().describe("How often it was recorded there"),
    link: z.string().describe("The moment in the inspector"),
  })
  .meta({ title: "RecordingFind" });
export type RecordingFind = z.infer<typeof RecordingFind>;

export const RecordingFindings = z
  .strictObject({
    finds: z.array(RecordingFind).describe("At most 1,000"),
    more: z.boolean().describe("True if there are more finds"),
    searched: z.strictObject({
      sessions: z.int(),
      parts: z.int(),
      events: z.int().describe("Events of rrweb"),
      characters: z.int().describe("After decompression"),
    }),
    ...contents,
    verdict: z
      .enum(["found", "none", "undecided"])
      .describe("`none`: everything was read. `undecided`: nothing was found, and not everything was read"),
    undecided: z.array(z.string()).describe("Why not everything was read, one sentence each"),
    complete: z.boolean().describe("False if something was not read: `undecided` has the reasons"),
  })
  .meta({ title: "RecordingFindings" });
export type RecordingFindings = z.infer<typeof RecordingFindings>;

export const StoredRecording = z
  .strictObject({
    ...sessionFields,
    ...contents,
    undecided: z.array(z.string()).describe("Why a search could not read all of it, one sentence each"),
    complete: z.boolean().describe("False if a search could not read all of it"),
    kinds: z.partialRecord(z.enum(recordedKinds), z.int()).describe("Events of rrweb by what they hold"),
    link: z.string().describe("The session in the inspector"),
  })
  .meta({ title: "StoredRecording" });
export type StoredRecording = z.infer<typeof StoredRecording>;
