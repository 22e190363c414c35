import type { AnswerPlace, AnswerQueue, ScriptedAnswer } from "../model/answer.ts";
import type { ControlCall } from "./call.ts";

export type { AnswerPlace, AnswerQueue, ScriptedAnswer };

/**
 * Answers that are given in place of the emulator's, each queue in its order. Requests whose `X-Test-Id` header
 * names a partition get the partition's answers, all others those of their project. When none waits that suits a
 * request, the emulator answers. Never touches the control API; ends with `clear`, or `reset`.
 */
export interface Answers {
  /**
   * Appends answers to a queue: `queue([{ status: 503 }, { status: 200, body: { status: "Ok" } }])`. In a JSON body
   * the key `$each_uuid` stands for an entry for each uuid that was received.
   * @param place The first project unless told. @throws ControlError
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
  new URLSearchParams(
    "project" in place ? { project: String(place.project) } : { partition: place.partition },
  );

/** The scripted answers' part of the client. */
export const answersBy = (call: ControlCall): Answers => ({
  queue: (answers, place) =>
    call("POST", "answers", { ...place, answers: isList(answers) ? answers : [answers] }),
  list: async () => (await call<{ queues: AnswerQueue[] }>("GET", "answers")).queues,
  clear: async (place) => {
    const path = place === undefined ? "answers" : `answers?${queryOf(place)}`;
    return (await call<{ removed: number }>("DELETE", path)).removed;
  },
});
