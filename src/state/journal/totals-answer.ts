import { z } from "zod";
import { OfProject } from "./query-shapes.ts";

export const TotalsQuery = z.strictObject({
  project: OfProject.optional(),
  events: z.string().optional().describe("Counts only events that pass this filter (default: all)"),
  requests: z.string().optional().describe("Counts only requests that pass this filter (default: all)"),
});

const progress = {
  complete: z
    .boolean()
    .describe("False if a part was not counted yet, or can no longer be read: there are at least as many"),
  counting: z.boolean().describe("True if a part was not counted yet: the next call continues"),
};
export interface TotalsProgress {
  readonly complete: boolean;
  readonly counting: boolean;
}

const lastSeq = z.int().describe("Seq of the last one");

const NameTotal = z.strictObject({
  event: z.string(),
  count: z.int(),
  dropped: z.int(),
  last: lastSeq,
  last_at: z.iso.datetime().nullable().describe("Arrival of the last one; null if it is no longer in memory"),
});
export type NameTotal = z.infer<typeof NameTotal>;

const CodeTotal = z.strictObject({ code: z.string(), count: z.int(), dropped: z.int(), last: lastSeq });
export type CodeTotal = z.infer<typeof CodeTotal>;

const EventTotals = z
  .strictObject({
    ...progress,
    total: z.int(),
    kept: z.int(),
    dropped: z.int(),
    warned: z.int().describe("Of the kept events, those with warnings"),
    names: z.array(NameTotal).describe("The most frequent names first, at most 50"),
    more_names: z.int().describe("Number of further names"),
    names_complete: z.boolean().describe("False if there are more names than the 10,000 that are counted separately"),
    codes: z.array(CodeTotal).describe("Reasons for drops, and warnings; the most frequent first"),
  })
  .meta({ title: "EventTotals" });
export type EventTotals = z.infer<typeof EventTotals>;

const RequestTotals = z
  .strictObject({ ...progress, total: z.int(), answered: z.int(), rejected: z.int() })
  .meta({ title: "RequestTotals" });
export type RequestTotals = z.infer<typeof RequestTotals>;

export const Totals = z
  .strictObject({
    events: EventTotals,
    requests: RequestTotals,
    persons: z.int().describe("Persons of the project; no filter applies"),
  })
  .meta({ title: "Totals" });
export type Totals = z.infer<typeof Totals>;
