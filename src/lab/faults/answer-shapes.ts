import { z } from "zod";
import { partitionShape } from "./call-facts.ts";
import { HeaderName, HeaderValue, Method, Route } from "./shapes.ts";

// Messages complete the words "expected …".

const most = 1_000;

/** Absent keys do not restrict. */
const AnswerMatch = z.strictObject({ route: Route.optional(), method: Method.optional() });

/** The result of one event of a capture v1 batch, with its details; any string, as SDKs must handle unknown results. */
const EventResult = z.strictObject({
  result: z.string().min(1).describe("ok, drop, warning, retry, or any other string"),
  details: z.string().optional().describe("Why, such as event_name_too_long"),
});

const ScriptedAnswer = z
  .strictObject({
    status: z.int().min(200).max(599).describe("Status of the response"),
    headers: z
      .record(HeaderName, HeaderValue)
      .optional()
      .describe("Its headers (default: the content type of the body)"),
    body: z
      .json()
      .optional()
      .describe(
        "A string as it is, anything else as JSON. The key $each_uuid in it stands for each uuid of the request",
      ),
    results: z
      .array(z.union([z.string().min(1), EventResult], "a result such as ok, or an object with a result"))
      .min(1)
      .optional()
      .describe(
        "Instead of a body: results of a capture v1 batch by position of the event, ok for further ones; a retry adds Retry-After",
      ),
    match: AnswerMatch.optional().describe("Only for matching requests"),
    times: z.int().min(1).max(1_000_000).optional().describe("Number of requests that get it (default: 1)"),
    keep: z
      .boolean()
      .optional()
      .describe("The request is handled first (its events are kept), and only the response is replaced"),
  })
  .superRefine(({ body, results }, context) => {
    if (body !== undefined && results !== undefined)
      context.addIssue({ code: "custom", message: "only one of body, results", path: ["results"] });
  });

/** Answers for the requests of a project (default: the first), or of a partition. */
export const AnswerOrder = z
  .strictObject({
    project: z.int().min(1).optional().describe("Number of the project (default: the first)"),
    partition: z
      .string()
      .regex(partitionShape, "1 to 200 visible characters without a space")
      .optional()
      .describe("Value of the X-Test-Id header of the requests"),
    answers: z.array(ScriptedAnswer).min(1).max(most).describe("In the order they are given"),
  })
  .superRefine((order, context) => {
    if (order.project !== undefined && order.partition !== undefined)
      context.addIssue({ code: "custom", message: "only one of project, partition", path: ["partition"] });
  })
  .meta({ title: "AnswerOrder" });
export type AnswerOrder = z.infer<typeof AnswerOrder>;
export type ScriptedAnswer = z.infer<typeof ScriptedAnswer>;
export type EventResult = z.infer<typeof EventResult>;

/** The requests a queue is for: those of a project, or those with the `X-Test-Id` of a partition. */
export type AnswerPlace = { readonly project: number } | { readonly partition: string };

const WaitingAnswer = z
  .strictObject({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    match: AnswerMatch.describe("Which requests get it"),
    keep: z.boolean().describe("The request is handled first, and only the response is replaced"),
    left: z.int().describe("Number of requests that will still get it"),
    body: z.json().optional(),
    results: ScriptedAnswer.shape.results.describe("By position of the event in the batch"),
  })
  .meta({ title: "WaitingAnswer" });
export type WaitingAnswer = z.infer<typeof WaitingAnswer>;

export const AnswerQueue = z
  .strictObject({
    project: z.int().nullable(),
    partition: z.string().nullable().describe("Value of the X-Test-Id header of the requests"),
    waiting: z.array(WaitingAnswer).describe("In the order they are given"),
    used: z.int().describe("Requests that got one"),
  })
  .meta({ title: "AnswerQueue" });
export type AnswerQueue = z.infer<typeof AnswerQueue>;
