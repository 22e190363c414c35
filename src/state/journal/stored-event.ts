import { z } from "zod";
import type { JsonObject } from "../../kernel/base/json.ts";
import type { DropReason, Warning } from "./drop-reasons.ts";

const PersonMode = z
  .enum(["full", "propertyless", "none"])
  .describe("full: a stored person; propertyless: a synthetic one; none: the event was dropped");
export type PersonMode = z.infer<typeof PersonMode>;

/** An event as the sim shows it, in one shape for every endpoint that captures events. */
export const StoredEvent = z
  .strictObject({
    seq: z.int().describe("Order of arrival over all projects, from 1"),
    outcome: z.enum(["kept", "dropped"]),
    reason: z.custom<DropReason>().meta({ type: "string" }).nullable().describe("Why it was dropped"),
    detail: z.string().nullable(),
    warnings: z.array(z.custom<Warning>().meta({ type: "string" })),
    project: z.int().nullable(),
    uuid: z.uuid().nullable(),
    event: z.string(),
    distinct_id: z.string(),
    timestamp: z.iso.datetime(),
    received_at: z.iso.datetime(),
    person_id: z.uuid().nullable(),
    person_mode: PersonMode,
    properties: z.custom<JsonObject>().meta({ type: "object" }),
    request: z.int().describe("Number of the request that carried it"),
  })
  .meta({ title: "StoredEvent" });
export type StoredEvent = z.infer<typeof StoredEvent>;

export const Cursor = z.int().describe("For `since` of the next call");

export const EventPage = z
  .strictObject({ events: z.array(StoredEvent), cursor: Cursor, more: z.boolean() })
  .meta({ title: "EventPage" });
export type EventPage = z.infer<typeof EventPage>;
