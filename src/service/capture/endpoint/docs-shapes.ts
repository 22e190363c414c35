import { z } from "zod";
import type { EndpointDocs, QueryParameter, ReplyDocs } from "../../../kernel/http/endpoint.ts";
import { errorReplies, errorSchema } from "../../../kernel/http/error-schemas.ts";
import { jsonSchemaOf } from "../../../kernel/http/row.ts";

// Parts of the OpenAPI document of public endpoints.

export const AnyObject = z.record(z.string(), z.unknown());
export const AnyJson = z.unknown();
export const Time = z.iso.datetime();

export const parametersOf = (shapes: Readonly<Record<string, z.ZodType>>): QueryParameter[] =>
  Object.entries(shapes).map(([name, shape]) => {
    const { description = "", ...schema } = jsonSchemaOf(shape, "input");
    return { name, description: String(description), schema };
  });

export const jsonBody = (shape: z.ZodType, isOptional = false): NonNullable<EndpointDocs["body"]> => ({
  type: "application/json",
  schema: jsonSchemaOf(shape, "input"),
  ...(isOptional && { isOptional }),
});

export const answers = (description: string, shape: z.ZodType): Record<200, ReplyDocs> => ({
  200: { description, schema: jsonSchemaOf(shape, "output") },
});

export const script = (description: string): Record<200, ReplyDocs> => ({
  200: { description, type: "application/javascript" },
});

export const serviceErrors = (...statuses: readonly number[]): Record<number, ReplyDocs> =>
  errorReplies({ schema: errorSchema }, ...statuses);

export const unchanged: Record<304, ReplyDocs> = { 304: { description: "The client's copy is up to date" } };

export const token = z.string().describe("The project key; `api_key` is read as well");

export const etagHeader = { "If-None-Match": z.string().describe("The ETag of an earlier response") };
