import { z } from "zod";
import { isObject, type JsonObject, stepsOf } from "../../kernel/base/json.ts";
import { checkEventPattern } from "./match/event-pattern.ts";
import type { PatternProblem } from "./match/pattern.ts";

export const patternLanguage =
  "A pattern for the whole event: a literal is equal, an object is a recursive subset, an array fits item by item, keys that start with @ are operators (@gte, @regex, @any …)";

const notPattern: PatternProblem = {
  pointer: "",
  detail: "a pattern must be an object, or the event's name",
  hint: 'for example {"event": "signup", "properties": {"plan": "pro"}}',
};

/** A pattern for events, or an event's name. The parser of patterns reports the mistakes. */
export const EventPattern = z
  .custom<string | JsonObject>()
  .superRefine((pattern, context) => {
    if (typeof pattern === "string") return;
    const [problem] = isObject(pattern) ? checkEventPattern(pattern) : [notPattern];
    if (!problem) return;
    const { pointer, detail, hint } = problem;
    context.addIssue({ code: "custom", message: detail, path: stepsOf(pointer), params: { detail, hint } });
  })
  .meta({
    anyOf: [
      { type: "object", description: patternLanguage },
      { type: "string", description: "The event's name" },
    ],
  });

export const patternOf = (pattern: string | JsonObject): JsonObject =>
  typeof pattern === "string" ? { event: pattern } : pattern;
