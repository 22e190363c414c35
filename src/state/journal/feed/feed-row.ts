import { z } from "zod";
import { FilterText, Limit, OfProject } from "../query-shapes.ts";
import { columnLimits } from "./column-limits.ts";

const arrival = z.int().describe("Arrival, ms since the epoch");

/** An event in a list, small enough that a page holds 100,000 of them. */
export const EventRow = z
  .strictObject({
    seq: z.int().describe("Order of arrival over all projects, from 1"),
    n: z.int().describe("Number of the request that carried it"),
    i: z.int().describe("Its index among that request's events, from 0"),
    at: arrival,
    time: z.int().describe("Its own time, ms since the epoch"),
    project: z.int().nullable(),
    event: z.string(),
    distinct_id: z.string(),
    person: z.uuid().nullable().describe("The person at that moment"),
    outcome: z.enum(["kept", "dropped"]),
    reason: z.string().nullable().describe("Why it was dropped"),
    warnings: z.array(z.string()).readonly(),
    preview: z
      .array(z.tuple([z.string(), z.string()]).readonly())
      .readonly()
      .describe("What matters of its properties, about 120 characters: pairs of label and value"),
    path: z.string().describe("Path of the page's address, or name of the screen"),
    lib: z.string().describe("The SDK, without `posthog-`"),
    session: z.string().nullable().describe("Its session's id"),
    values: z.array(z.string().nullable()).readonly().optional().describe("Values of the asked columns, in short"),
  })
  .meta({ title: "EventRow" });
export type EventRow = z.infer<typeof EventRow>;

/** The part of a row that needs no properties: filters read it. */
export type EventHead = Omit<EventRow, "preview" | "path" | "lib" | "session" | "values">;

export const RequestRow = z
  .strictObject({
    n: z.int(),
    at: arrival,
    method: z.string(),
    target: z.string().describe("Path and query as sent, secrets masked"),
    status: z.int().describe("0: a fault prevented the response"),
    ms: z.number().describe("Time until the response was ready"),
    project: z.int().nullable(),
    outcome: z.enum(["answered", "rejected"]),
    reason: z.string().nullable().describe("Why it was rejected"),
    detail: z.string().nullable(),
    unmatched: z.boolean().describe("True if it was rejected because its path does not exist"),
    fault: z.string().nullable().describe("Names of the faults that affected it"),
    source: z
      .string()
      .describe("What answered, as in the header `x-phx-source`: `emulator`, `fault`, `tape:NAME#12` …"),
    partition: z.string().nullable().describe("Its X-Test-Id header"),
    events: z.int().describe("Number of its events"),
    dropped: z.int().describe("Number of its events that were dropped"),
  })
  .meta({ title: "RequestRow" });
export type RequestRow = z.infer<typeof RequestRow>;

export const HistoryQuery = z.strictObject({
  filter: FilterText.optional(),
  project: OfProject.optional(),
  before: z.int().min(1).optional().describe("Only rows before this seq, or number of a request"),
  limit: Limit.default(100),
});
export type HistoryQuery = z.infer<typeof HistoryQuery>;

const isColumns = (names: readonly string[]): boolean =>
  names.length <= columnLimits.columns && names.every((it) => it.length <= columnLimits.name);

export const EventHistoryQuery = HistoryQuery.extend({
  columns: z
    .string()
    .transform((text) => text.split(",").filter((it) => it !== ""))
    .refine(isColumns, `at most ${columnLimits.columns} names of at most ${columnLimits.name} characters`)
    .optional()
    .describe("Names of properties, separated by commas: `values` of a row has them"),
});
export type EventHistoryQuery = z.infer<typeof EventHistoryQuery>;

const historyOf = <Row extends z.ZodType>(row: Row) =>
  z.strictObject({
    epoch: z.string(),
    cursor: z.int().describe("Subscribe with it, and with the epoch, to get later rows"),
    rows: z.array(row).readonly().describe("Newest first"),
    more: z.boolean().describe("True if there may be more before the last row"),
    before: z
      .int()
      .nullable()
      .describe("For `before` of the next call; also set if no row was found in the part that was searched"),
  });

export const EventHistory = historyOf(EventRow).meta({ title: "EventHistory" });
export const RequestHistory = historyOf(RequestRow).meta({ title: "RequestHistory" });

export type History<Row> = Omit<z.infer<typeof EventHistory>, "rows"> & { readonly rows: readonly Row[] };
