import { z } from "zod";
import { timeRange } from "../../../kernel/base/clock.ts";
import { WorldSchema } from "../../../state/documents/world.schema.ts";
import { dropReasons, warnings } from "../../../state/journal/drop-reasons.ts";
import { maxGroupTypes } from "../../../state/persons/person.ts";

const time = z.int().min(timeRange.first).max(timeRange.last);
/** Events may carry any time that a date can have. */
const eventTime = z.number().min(-8.64e15).max(8.64e15);
const project = z.int().min(0);
/** Already parsed from JSON. */
const properties = z.custom<object>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "expected an object",
);

/** The lines of people.ndjson with current content. */
const PersonLine = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("person"),
    project,
    uuid: z.guid(),
    created_at: z.number(),
    is_identified: z.boolean(),
    version: z.int(),
    properties,
  }),
  z.strictObject({ kind: z.literal("id"), project, distinct_id: z.string(), person: z.guid() }),
  z.strictObject({ kind: z.literal("personless"), project, distinct_id: z.string() }),
  z.strictObject({ kind: z.literal("hash_keys"), project, person: z.guid(), keys: z.record(z.string(), z.string()) }),
  z.strictObject({
    kind: z.literal("group"),
    project,
    type: z
      .int()
      .min(0)
      .max(maxGroupTypes - 1),
    key: z.string(),
    created_at: z.number(),
    properties,
  }),
  z.strictObject({ kind: z.literal("group_type"), project, name: z.string() }),
]);

const isReason = (value: unknown) => typeof value === "string" && Object.hasOwn(dropReasons, value);
const isWarning = (value: unknown) => typeof value === "string" && Object.hasOwn(warnings, value);

const EventFacts = z.looseObject({
  uuid: z.string().nullable(),
  id: z.string().optional(),
  time: eventTime,
  person: z.string().nullable(),
  mode: z.enum(["full", "propertyless", "none"]).optional(),
  dropped: z.custom(isReason, "expected a known reason").optional(),
  detail: z.string().optional(),
  warnings: z.array(z.custom(isWarning, "expected a known warning")).optional(),
  groups: z.record(z.string(), z.string()).optional(),
  place: properties.optional(),
  adds: properties.optional(),
  strips: z.array(z.string()).optional(),
});

/** Keys of the journal's lines that are not requests. */
const otherLines = ["clear", "hidden", "log"];

const headers = z.array(z.string()).refine((list) => list.length % 2 === 0, "expected pairs of name and value");

/** A line of the journal; `cleared` when its events are hidden. */
const JournalLine = z
  .looseObject({
    cleared: z.literal(true).optional(),
    n: z.int().min(1),
    at: time,
    method: z.string(),
    target: z.string(),
    peer: z.string(),
    status: z.int(),
    us: z.number(),
    project: project.nullable(),
    rejected: z.looseObject({ reason: z.string(), detail: z.string() }).optional(),
    scripted: z.literal(true).optional(),
    source: z.string().max(300).optional(),
    partition: z.string().optional(),
    seq: z.int().optional(),
    events: z.array(EventFacts).optional(),
    shape: z.enum(["legacy", "v1", "recording"]).optional(),
    steps: z.array(z.string()).optional(),
    headers,
    reply_headers: headers.optional(),
  })
  .refine((line) => !otherLines.some((key) => Object.hasOwn(line, key)), "expected the line of a request");

/** What GET /__sim/state writes and PUT /__sim/state reads. */
export const StateSchema = z.strictObject({
  phx_sim_state: z.literal(1),
  saved_at: z.string().optional(),
  world: WorldSchema,
  people: z.array(PersonLine),
  journal: z.array(JournalLine),
});
