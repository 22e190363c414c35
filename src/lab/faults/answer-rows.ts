import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { type ProjectLookup, projectOf } from "../../state/documents/project-lookup.ts";
import { AnswerOrder, type AnswerPlace, AnswerQueue } from "./answer-shapes.ts";
import type { ScriptedAnswers } from "./answers.ts";

interface AnswerPorts {
  readonly answers: ScriptedAnswers;
  readonly worlds: ProjectLookup;
}

/** @throws SimError invalid_input for a project with a partition */
function placeOf({
  project,
  partition,
}: {
  project?: number | undefined;
  partition?: string | undefined;
}): AnswerPlace | undefined {
  if (project !== undefined && partition !== undefined)
    throw new SimError("invalid_input", "only one of project, partition", { pointer: "?partition" });
  if (partition) return { partition };
  return project === undefined ? undefined : { project };
}

export const answerSlice = slice(["answers", "worlds"], ({ answers, worlds }: AnswerPorts) => [
  row({
    method: "GET",
    path: "/__sim/answers",
    access: "control",
    summary: "Lists the queues of scripted answers with the number of requests each answered",
    reply: z.strictObject({ queues: z.array(AnswerQueue) }),
    handle: () => ({ queues: answers.list() }),
  }),
  row({
    method: "POST",
    path: "/__sim/answers",
    access: "control",
    summary: "Queues answers for the requests of a project or a partition",
    body: AnswerOrder,
    errors: [404],
    reply: AnswerQueue,
    handle({ body }) {
      const place =
        body.partition === undefined
          ? { project: projectOf(worlds, body.project, "/project").id }
          : { partition: body.partition };
      return answers.queue(place, body.answers);
    },
  }),
  row({
    method: "DELETE",
    path: "/__sim/answers",
    access: "control",
    summary: "Removes the waiting answers, of one queue or all",
    query: z.strictObject({
      project: z.int().min(1).optional().describe("Only the queue of this project"),
      partition: z.string().optional().describe("Only the queue of this partition"),
    }),
    reply: z.strictObject({ removed: z.int().describe("Answers that waited") }),
    handle: ({ query }) => ({ removed: answers.clear(placeOf(query)) }),
  }),
]);
