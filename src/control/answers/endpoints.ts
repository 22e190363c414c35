import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import type { AnswerPlace } from "../../model/answer.ts";
import { bodyOf, queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { projectOf } from "../flags/place.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";

type Handle = (desk: ControlDesk, call: Call) => Reply | Promise<Reply>;

const list: Handle = ({ answers }) => json({ queues: answers.list() });

const queue: Handle = async (desk, call) => {
  // loads zod, which the rest of the control API does without
  const { orderIn } = await import("./check.ts");
  const { project, partition, answers } = orderIn(bodyOf(call));
  const place =
    partition === undefined ? { project: projectOf(desk, project, "/project").id } : { partition };
  return json(desk.answers.queue(place, answers));
};

/** The queue that the query names. @throws SimError invalid_input when it names two */
function placeIn(call: Call): AnswerPlace | undefined {
  const project = queryNumber(call, "project", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const partition = call.query.get("partition") || undefined;
  if (project !== undefined && partition !== undefined)
    throw new SimError("invalid_input", "only one of project, partition", { pointer: "?partition" });
  if (partition !== undefined) return { partition };
  return project === undefined ? undefined : { project };
}

const clear: Handle = ({ answers }, call) => json({ removed: answers.clear(placeIn(call)) });

const root = "/__sim/answers";

const rows: readonly ControlRow<ControlDesk>[] = [
  ["GET", root, "The queues of scripted answers: what waits in them, and how often they were used", list],
  ["POST", root, "Queues answers for the requests of a project or partition: answers", queue],
  ["DELETE", root, "Forgets the answers that wait, all or of one queue: project, partition", clear],
];

/** Answers that are given in place of the emulator's. */
export const answerEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
