import { z } from "zod";
import { isObject } from "../base/json.ts";
import { safeParse } from "../base/safe-parse.ts";
import { phraseOf } from "./schema-messages.ts";

/** An object with any keys. `z.record` would lose the key `__proto__`. */
export function recordOf<Values extends z.ZodType>(values: Values) {
  const { $schema: _, ...schema } = z.toJSONSchema(z.record(z.string(), values), {
    io: "input",
    unrepresentable: "any",
  });
  return z
    .custom<Readonly<Record<string, z.output<Values>>>>(isObject, "an object")
    .superRefine((record, context) => {
      for (const [key, value] of Object.entries(record)) {
        const issue = safeParse(values, value, { error: phraseOf }).error?.issues[0];
        if (issue) context.addIssue({ code: "custom", message: issue.message, path: [key, ...issue.path] });
      }
    })
    .meta(schema);
}
