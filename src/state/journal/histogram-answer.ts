import { z } from "zod";
import { FilterText, OfProject } from "./query-shapes.ts";

const Bars = z.array(z.int());

export const HistogramQuery = z.strictObject({
  filter: FilterText.optional(),
  project: OfProject.optional(),
  from: z.int().min(0).optional().describe("Only events that arrived at this time or later, ms since the epoch"),
  to: z.int().min(0).optional().describe("Only events that arrived before this time"),
  buckets: z.int().min(1).max(500).default(120).describe("At most this many"),
});

export const Histogram = z
  .strictObject({
    complete: z
      .boolean()
      .describe("False if a part was not counted yet, or can no longer be read: there are at least as many"),
    counting: z.boolean().describe("True if a part was not counted yet: the next call continues"),
    from: z.int().describe("Start of the first bucket, ms since the epoch"),
    step: z.int().describe("Length of a bucket, ms"),
    kept: Bars.describe("Events of each bucket without warnings"),
    warned: Bars,
    dropped: Bars,
  })
  .meta({ title: "Histogram" });
export type Histogram = z.infer<typeof Histogram>;
