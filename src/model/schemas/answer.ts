import { z } from "zod";
import { partitionShape } from "../answer.ts";
import { HeaderName, HeaderValue, Method, Route } from "./fault.ts";

// Messages complete the words "expected …".

/** Answers that one call of the control API queues. */
const most = 1_000;

/** Which requests get an answer; absent keys do not restrict. */
export const AnswerMatch = z.strictObject({
  route: Route.optional().describe(
    "capture, flags, service, sdk, management, or a path: :name or * for a segment, * at the end for the rest",
  ),
  method: Method.optional().describe("Only this method; otherwise all but OPTIONS"),
});

/** The result of one event of a capture v1 batch, with its details; any text, as SDKs meet results unknown to them. */
export const EventResult = z.strictObject({
  result: z.string().min(1).describe("ok, drop, warning, retry, or any other text"),
  details: z.string().optional().describe("Why, such as event_name_too_long"),
});

/** An answer that is given as it stands. */
export const ScriptedAnswer = z
  .strictObject({
    status: z.int().min(200).max(599).describe("Status of the answer"),
    headers: z
      .record(HeaderName, HeaderValue)
      .optional()
      .describe("Its headers; the type is known by the body"),
    body: z
      .json()
      .optional()
      .describe(
        "A text as it is, anything else as JSON. The key $each_uuid in it stands for each uuid that was received",
      ),
    results: z
      .array(z.union([z.string().min(1), EventResult], "a result such as ok, or an object with a result"))
      .min(1)
      .optional()
      .describe(
        "Instead of a body: that of capture v1, with these results for the events of the batch by position, ok for further ones; Retry-After comes with a retry",
      ),
    match: AnswerMatch.optional().describe("Only for such requests; others pass it by"),
    times: z.int().min(1).max(1_000_000).optional().describe("How many requests get it (default: 1)"),
    keep: z
      .boolean()
      .optional()
      .describe("The request is handled first (its events are kept), and only the answer is replaced"),
  })
  .superRefine(({ body, results }, context) => {
    if (body !== undefined && results !== undefined)
      context.addIssue({ code: "custom", message: "only one of body, results", path: ["results"] });
  });

/** Answers for a project's requests (the first's unless told), or for those of a partition. */
export const AnswerOrder = z
  .strictObject({
    project: z.int().min(1).optional().describe("Number of the project; the first unless told"),
    partition: z
      .string()
      .regex(partitionShape, "1 to 200 visible characters without a space")
      .optional()
      .describe("What the requests say in their X-Test-Id header"),
    answers: z.array(ScriptedAnswer).min(1).max(most).describe("In the order they are given"),
  })
  .superRefine((order, context) => {
    if (order.project !== undefined && order.partition !== undefined)
      context.addIssue({ code: "custom", message: "only one of project, partition", path: ["partition"] });
  });
