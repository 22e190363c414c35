import { z } from "zod";

// Fields that queries and bodies of several endpoints share. Each endpoint adds `.optional()`, or `.nullish()` in a
// body, and a description where it means something else.

const largestPage = 10_000;
/** A call that waits never holds its connection longer than this, ms. */
const longestWait = 60_000;

export const ProjectNumber = z.int().min(0);
export const OfProject = ProjectNumber.describe("Only of the project with this number");
const EventName = z.string().describe("Only events with this name");
const DistinctId = z.string().describe("Only events with this distinct id");
export const Outcome = z.enum(["kept", "dropped"]).describe("Only events that were kept, or dropped");
export const FilterText = z
  .string()
  .describe("Only what passes this filter, for example `event:$pageview prop.amount:>10 -is:dropped`");
export const OfPartition = z.string().describe("Only requests with this X-Test-Id header");

export const SinceSeq = z.int().min(0).describe("Only events after this cursor");
export const UntilSeq = z.int().min(0).describe("Only events up to this cursor");
export const SinceRequest = z.int().min(0).describe("Only requests after this number");
export const UntilRequest = z.int().min(1).describe("Only requests up to this number");
export const BeforeRequest = z.int().min(1).describe("Only requests before this number");

export const Order = z.enum(["asc", "desc"]).describe("Order of arrival (default: asc)");
export const Limit = z.int().min(1).max(largestPage).describe("Maximum number of results");
const waitExpected = `milliseconds from 0 to ${longestWait}`;
export const WaitMs = z.int(waitExpected).min(0, waitExpected).max(longestWait, waitExpected);

/** Parameters of `GET /__sim/events`; the endpoint reads the pattern. */
export const EventListQuery = z.strictObject({
  project: OfProject.optional(),
  event: EventName.optional(),
  distinct_id: DistinctId.optional(),
  outcome: Outcome.optional(),
  since: SinceSeq.optional(),
  until: UntilSeq.optional(),
  where: z
    .string()
    .optional()
    .describe(`Pattern that events must match, as JSON: '{"properties":{"amount":{"@gte":10}}}'`),
  filter: FilterText.optional(),
  order: Order.optional(),
  limit: Limit.default(100),
  wait_ms: WaitMs.default(0).describe("Waits up to N ms if there is no event yet (default: 0)"),
});
/** As clients give them; the client has its own form of `where`. */
export type EventParameters = Omit<z.input<typeof EventListQuery>, "where" | "wait_ms">;

/** Parameters of `DELETE /__sim/events`. */
export const ClearQuery = z.strictObject({
  project: OfProject.optional(),
  compact: z
    .boolean()
    .optional()
    .describe("Also deletes the requests of all projects, and frees their space (default: false)"),
});
