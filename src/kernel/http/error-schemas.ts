import type { JsonSchema, ReplyDocs } from "./endpoint.ts";

const text: JsonSchema = { type: "string" };
const textOrNull: JsonSchema = { anyOf: [text, { type: "null" }] };

const objectOf = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

export const errorSchema: JsonSchema = {
  title: "Error",
  ...objectOf({ type: text, code: text, detail: text, attr: textOrNull }),
  additionalProperties: false,
};

export const captureErrorSchema: JsonSchema = {
  title: "CaptureError",
  ...objectOf({ error: text, error_description: text, error_uri: text }),
  additionalProperties: false,
};

/** Of the control API; some errors say more. */
export const controlErrorSchema: JsonSchema = {
  title: "ControlError",
  ...objectOf({ code: text, detail: text, hint: textOrNull, pointer: textOrNull }),
};

const descriptions: Readonly<Record<number, string>> = {
  400: "The request cannot be read, or a value in it is wrong",
  401: "The key is missing or not known",
  402: "The project has used up its quota",
  403: "The caller may not do this",
  404: "There is no such thing, or the caller may not see it",
  405: "The method is not allowed here",
  406: "The response would be JSON, which the caller does not accept",
  408: "The body did not arrive in time",
  409: "It did not come about",
  413: "The body is too large",
  415: "The body's media type is not known",
  426: "The path speaks websocket",
  429: "Too many requests; Retry-After says how long to wait",
};

type Shape = Omit<ReplyDocs, "description">;

export const errorReplies = (shape: Shape, ...statuses: readonly number[]): Record<number, ReplyDocs> =>
  Object.fromEntries(statuses.map((status) => [status, { description: descriptions[status] ?? "An error", ...shape }]));

export const textShape: Shape = { type: "text/plain" };
