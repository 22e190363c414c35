import { z } from "zod";
import { OfProject } from "./query-shapes.ts";

export const SdkQuery = z.strictObject({ project: OfProject.optional() });

export const SdkTotal = z
  .strictObject({
    name: z.string().describe("From `$lib`, else from the User-Agent: `posthog-js`, `curl`"),
    version: z.string().nullable().describe("null if it does not say"),
    is_sdk: z.boolean().describe("False for a client that is no SDK of PostHog"),
    requests: z.int(),
    rejected: z.int().describe("Rejected requests"),
    kept: z.int(),
    dropped: z.int(),
    last: z.int().describe("Number of the last request"),
    last_at: z.iso.datetime(),
    hints: z.array(z.string()).describe("What to know of this version"),
  })
  .meta({ title: "SdkTotal" });
export type SdkTotal = z.infer<typeof SdkTotal>;

export const SdkTotals = z
  .strictObject({
    complete: z
      .boolean()
      .describe("False if a part was not counted yet, or can no longer be read: there are at least as many"),
    counting: z.boolean().describe("True if a part was not counted yet: the next call continues"),
    sdks: z.array(SdkTotal).describe("SDKs, and clients that sent events or were rejected; at most 50"),
    more: z.int().describe("Number of further ones"),
  })
  .meta({ title: "SdkTotals" });
export type SdkTotals = z.infer<typeof SdkTotals>;
