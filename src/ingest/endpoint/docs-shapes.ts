import type { JsonSchema, QueryParameter, ReplyDocs } from "../../http/endpoint.ts";
import { errorReplies, errorSchema } from "../../http/error-schemas.ts";
import { text } from "../../http/json-schema.ts";

/** Pieces that many rows of this room are documented with. */

export const parameter = (name: string, description: string, schema: JsonSchema = text): QueryParameter => ({
  name,
  description,
  schema,
});

export const answers = (description: string, schema: JsonSchema): Record<200, ReplyDocs> => ({
  200: { description, schema },
});

export const script = (description: string): Record<200, ReplyDocs> => ({
  200: { description, type: "application/javascript" },
});

/** Errors as the service writes them. */
export const serviceErrors = (...statuses: readonly number[]): Record<number, ReplyDocs> =>
  errorReplies({ schema: errorSchema }, ...statuses);

export const unchanged: Record<304, ReplyDocs> = {
  304: { description: "What the caller has is up to date" },
};

export const tokenParameter: QueryParameter = parameter(
  "token",
  "The project key; `api_key` is read as well",
);

export const etagHeader: QueryParameter = parameter("If-None-Match", "The ETag of an earlier answer");

export const jsonBody = (schema: JsonSchema, isOptional = false) => ({
  type: "application/json",
  schema,
  ...(isOptional && { isOptional }),
});
