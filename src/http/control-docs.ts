import type { EndpointDocs, JsonSchema, QueryParameter, ReplyDocs } from "./endpoint.ts";
import { controlErrorSchema, errorReplies } from "./error-schemas.ts";
import { exact, text } from "./json-schema.ts";

/** A whole number. */
export const whole = (minimum: number, maximum?: number): JsonSchema => ({
  type: "integer",
  minimum,
  ...(maximum !== undefined && { maximum }),
});

/** A parameter of the query (default: a string). */
export const parameter = (name: string, description: string, schema: JsonSchema = text): QueryParameter => ({
  name,
  description,
  schema,
});

/** What the guard and the door say to a call, whatever it asks. */
export const guarded = errorReplies({ schema: controlErrorSchema }, 401, 403);

/** A row that answers 200 with this shape, and errors as all rows of the control API do. */
export const docsOf = (
  description: string,
  schema: JsonSchema,
  more: Omit<EndpointDocs, "replies"> & { errors?: readonly number[] } = {},
): EndpointDocs => {
  const { errors = [], ...rest } = more;
  const replies: Record<number, ReplyDocs> = {
    200: { description, schema },
    ...guarded,
    ...errorReplies({ schema: controlErrorSchema }, ...errors),
  };
  return { ...rest, replies };
};

type Keys = Readonly<Record<string, JsonSchema>>;

/** A JSON body that may have these keys, must have the `required` ones, and has no others. */
export const bodyOf = (optional: Keys, required: Keys = {}) => ({
  type: "application/json",
  schema: exact(required, optional),
  isOptional: Object.keys(required).length === 0,
});

/** What a body may be refused with. */
export const bodyErrors = [400, 408, 413, 415];
