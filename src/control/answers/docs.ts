import type { EndpointDocs } from "../../http/endpoint.ts";
import {
  anything,
  boolean,
  described,
  exact,
  integer,
  listOf,
  mapOf,
  nullable,
  open,
  text,
  titled,
} from "../../http/json-schema.ts";
import { bodyErrors, docsOf, parameter, whole } from "../docs-row.ts";
import { orderSchema } from "./check.ts";

const waiting = titled(
  "WaitingAnswer",
  exact(
    {
      status: integer,
      headers: mapOf(text),
      match: described(open({}, { route: text, method: text }), "Which requests get it"),
      keep: described(boolean, "The request is handled first, and only the answer is replaced"),
      left: described(integer, "How many more requests get it"),
    },
    { body: anything, results: described(listOf(anything), "By the position of the event in the batch") },
  ),
);

const queue = titled(
  "AnswerQueue",
  exact({
    project: nullable(integer),
    partition: described(nullable(text), "What the requests say in their X-Test-Id header"),
    waiting: described(listOf(waiting), "In the order they are given"),
    used: described(integer, "Requests that got one"),
  }),
);

const queued: EndpointDocs = {
  ...docsOf("The queue", queue, { errors: [...bodyErrors, 404] }),
  /** Made from the schema when somebody asks: that takes longer than loading all rows. */
  get body() {
    return { type: "application/json", schema: titled("AnswerOrder", orderSchema()) };
  },
};

/** The rows of the scripted answers, by method and path. */
export const answerDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/answers": docsOf("The queues, in the order they were made", exact({ queues: listOf(queue) })),
  "POST /__sim/answers": queued,
  "DELETE /__sim/answers": docsOf("How many answers waited", exact({ removed: integer }), {
    errors: [400],
    query: [
      parameter("project", "Only the queue of this project", whole(1)),
      parameter("partition", "Only the queue of this partition"),
    ],
  }),
};
