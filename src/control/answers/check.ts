import type { z } from "zod";
import type { JsonObject } from "../../kernel/json.ts";
import { AnswerMatch, AnswerOrder, EventResult, ScriptedAnswer } from "../../model/schemas/answer.ts";
import { checked, schemaOf } from "../check.ts";

/** The known keys of a place, by its depth: the body, an answer, its match, a result. */
const keysAt: Readonly<Record<number, readonly string[]>> = {
  0: Object.keys(AnswerOrder.shape),
  2: Object.keys(ScriptedAnswer.shape),
  3: Object.keys(AnswerMatch.shape),
  4: Object.keys(EventResult.shape),
};

/** The answers that a body asks for. @throws SimError invalid_input for the first thing that is wrong */
export const orderIn = (body: JsonObject): z.infer<typeof AnswerOrder> =>
  checked(AnswerOrder, body, (path) => keysAt[path.length] ?? []);

/** The shape of such a body, as JSON Schema. */
export const orderSchema = () => schemaOf(AnswerOrder);
