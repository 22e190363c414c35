import { z } from "zod";

const lastSeq = z.int().describe("Seq of the last one");

export const ProblemQuery = z.strictObject({
  project: z.int().min(0).optional().describe("Only problems of this project"),
});

const EventProblem = z
  .strictObject({
    code: z.string().describe("The reason, or the warning"),
    count: z.int(),
    dropped: z.int(),
    last: lastSeq,
  })
  .meta({ title: "EventProblem" });
export type EventProblem = z.infer<typeof EventProblem>;

const RequestProblem = z
  .strictObject({
    reason: z.string(),
    detail: z.string(),
    hint: z.string().optional().describe("How to fix it, if the request itself shows that"),
    status: z.int(),
    what: z.string().describe("Method and path of the last one"),
    count: z.int(),
    last: z.int().describe("Number of the last one"),
  })
  .meta({ title: "RequestProblem" });
export type RequestProblem = z.infer<typeof RequestProblem>;

export const Problems = z
  .strictObject({
    complete: z.boolean().describe("False if a part is not counted yet, or can no longer be read: there may be more"),
    counting: z.boolean().describe("True if a part is not counted yet; the next call continues"),
    events: z.array(EventProblem).describe("Events that were dropped, or have warnings; the most frequent ones first"),
    requests: z
      .array(RequestProblem)
      .describe(
        "Rejected requests by reason, those without a route by path, the latest ones first; with `project` also those without a project, which may belong to it",
      ),
    other_requests: z.int().describe("Rejected requests with further reasons and paths"),
  })
  .meta({ title: "Problems" });
export type Problems = z.infer<typeof Problems>;
