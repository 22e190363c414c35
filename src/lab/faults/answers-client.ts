import type { HandleScope } from "../../kernel/call/call.ts";
import { knownOptions } from "../../kernel/call/option-keys.ts";
import type { AnswerPlace, AnswerQueue, ScriptedAnswer } from "./answer-shapes.ts";

export type { AnswerPlace, AnswerQueue, ScriptedAnswer };

/**
 * Answers that are given in place of the emulator's, each queue in its order. Requests whose `X-Test-Id` header
 * names a partition get the partition's answers, all others those of their project. When none waits that suits a
 * request, the emulator answers. Never touches the control API; ends with `clear`, or `reset`.
 */
export interface Answers {
  /**
   * Appends answers to a queue: `queue([{ status: 503 }, { status: 200, body: { status: "Ok" } }])`. In a JSON body
   * the key `$each_uuid` stands for an entry for each uuid that was received. `{ status: 200, results: ["ok", "retry"] }`
   * answers a capture v1 batch with a result for each event by position.
   * @param place Default: the first project. @throws ControlError
   */
  queue(answers: ScriptedAnswer | readonly ScriptedAnswer[], place?: AnswerPlace): Promise<AnswerQueue>;
  /** The queues: what waits in them, and how many requests got an answer from them. */
  list(): Promise<AnswerQueue[]>;
  /** Forgets a queue or all; returns how many answers waited. */
  clear(place?: AnswerPlace): Promise<number>;
}

const isList = (answers: ScriptedAnswer | readonly ScriptedAnswer[]): answers is readonly ScriptedAnswer[] =>
  Array.isArray(answers);

const queryOf = (place: AnswerPlace): URLSearchParams =>
  new URLSearchParams("project" in place ? { project: String(place.project) } : { partition: place.partition });

const isOf = (project: number) => (queue: AnswerQueue) => queue.project === project;

export const answersBy = ({ call, project }: HandleScope): Answers =>
  withOptions({
    queue: (answers, place) => {
      const whose = project === undefined ? place : { project };
      return call("POST", "answers", { ...whose, answers: isList(answers) ? answers : [answers] });
    },
    list: async () => {
      const { queues } = await call<{ queues: AnswerQueue[] }>("GET", "answers");
      return project === undefined ? queues : queues.filter(isOf(project));
    },
    clear: async (place) => {
      const whose = project === undefined ? place : { project };
      const path = whose === undefined ? "answers" : `answers?${queryOf(whose)}`;
      return (await call<{ removed: number }>("DELETE", path)).removed;
    },
  });

const answerPlace = ["project", "partition"];

const withOptions = knownOptions<Answers>("answers", { queue: { 1: answerPlace }, clear: [answerPlace] });
