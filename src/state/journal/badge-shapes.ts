import { z } from "zod";

/** Counts, and nothing of any event: pages of other loopback origins may read them. */
export const BadgeCounts = z
  .strictObject({
    kept: z.int(),
    dropped: z.int(),
    rejected: z.int().describe("Rejected requests"),
    reason: z.string().nullable().describe("Code of the last drop or rejection; null: none"),
  })
  .meta({ title: "BadgeCounts" });
export type BadgeCounts = z.infer<typeof BadgeCounts>;
