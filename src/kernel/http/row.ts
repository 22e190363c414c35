import { z } from "zod";
import { SimError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import type { Call } from "./call.ts";
import { bodyOf } from "./control-body.ts";
import type { Endpoint, EndpointDocs, JsonSchema, ReplyDocs } from "./endpoint.ts";
import { controlErrorSchema, errorReplies } from "./error-schemas.ts";
import type { Family } from "./family.ts";
import { json, jsonInTurns, type Reply } from "./reply.ts";
import { parseShape } from "./shape-errors.ts";

/** The names in a path: `{ id: string }` for `/__sim/faults/:id`. */
type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [Key in Name]: string }
    : unknown;

type Parsed<Shape> = Shape extends z.ZodType ? z.output<Shape> : undefined;

interface RowCall<Path extends string, Query, Body> {
  readonly call: Call;
  readonly params: PathParams<Path>;
  readonly query: Query extends z.ZodType ? z.output<Query> : Record<never, never>;
  readonly body: Parsed<Body>;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a row declares, whichever family it belongs to: everything except its handler. */
export interface RowHead<
  Access,
  Path extends string = string,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Answer extends z.ZodType | undefined = z.ZodType | undefined,
> {
  readonly method: Method | readonly Method[];
  readonly path: Path;
  readonly summary: string;
  readonly contract?: boolean;
  /** Which callers are let in; it decides the shape of errors, too. `open`: all, not journaled; `page`: no token. */
  readonly access: Access;
  readonly query?: Query;
  readonly body?: Body;
  readonly reply?: Answer;
  /** Status of the response (default: 200). */
  readonly status?: number;
  /** Further answers for the OpenAPI document: another media type, or a status of its own. */
  readonly replies?: Readonly<
    Record<number, { readonly description: string; readonly shape?: z.ZodType; readonly type?: string }>
  >;
  readonly errors?: readonly number[];
  readonly bodyLimit?: number;
}

/**
 * One endpoint: its route, what it reads, what it answers, and the handler. Routing, the rejection of unknown
 * parameters, the OpenAPI document and the docs tables are derived from it. Parameters that are numbers, booleans,
 * lists or objects are read from their text; a body shape that accepts `{}` makes the body optional; without
 * `reply` the handler returns a whole reply.
 */
export interface Row<
  Path extends string = string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
> extends RowHead<keyof typeof refusals, Path, Query, Body, Answer> {
  /** @throws SimError */
  handle(
    request: RowCall<Path, Query, Body>,
  ): Answer extends z.ZodType ? z.input<Answer> | Promise<z.input<Answer>> : Reply | Promise<Reply>;
}

export function row<
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(definition: Row<Path, Query, Body, Answer>): Endpoint {
  const { query, body, reply, status = 200 } = definition;
  return {
    ...endpointOf(definition, "control"),
    access: definition.access,
    docs: () => controlDocs(definition),
    handle(call) {
      const request = {
        call,
        params: call.params,
        // the page and the health checks accept any parameter
        query: definition.access === "control" ? readQuery(call, query) : {},
        body: body === undefined ? undefined : parseShape(body, bodyOf(call)),
      } as RowCall<Path, Query, Body>;
      const answer = definition.handle(request);
      if (reply === undefined) return answer as Reply | Promise<Reply>;
      // what comes at once is small
      return answer instanceof Promise ? answer.then((it) => jsonInTurns(it, status)) : json(answer, status);
    },
  };
}

type Kind = "string" | "choice" | "number" | "boolean" | "array" | "object";

function kindOf(shape: z.core.$ZodType): Kind {
  const { def } = shape._zod as { def: { type: string; innerType?: z.core.$ZodType; in?: z.core.$ZodType } };
  if (def.innerType !== undefined) return kindOf(def.innerType);
  if (def.in !== undefined) return kindOf(def.in);
  if (def.type === "number" || def.type === "int") return "number";
  if (def.type === "boolean" || def.type === "array") return def.type;
  if (def.type === "enum") return "choice";
  if (def.type === "custom") return z.globalRegistry.get(shape)?.type === "object" ? "object" : "string";
  return def.type === "object" || def.type === "record" ? "object" : "string";
}

const switches: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
]);

/** How the text of a parameter becomes a value; what cannot be read is left for the shape to reject. */
const readers: Readonly<Record<Kind, (text: string) => Json | undefined>> = {
  string: (text) => text,
  choice: (text) => text || undefined,
  number: (text) => (text === "" ? undefined : /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "" ? undefined : (switches.get(text) ?? text)),
  array: (text) => (text === "" ? undefined : text.split(",")),
  object(text) {
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as Json;
    } catch {
      return text;
    }
  },
};

function readQuery(call: Call, shape: z.ZodObject | undefined): unknown {
  const fields: Readonly<Record<string, z.core.$ZodType>> = shape?.shape ?? {};
  const found: Record<string, Json> = {};
  for (const name of call.query.keys()) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) throw unknownParameter(name, Object.keys(fields));
    const value = readers[kindOf(field)](call.query.get(name) ?? "");
    if (value !== undefined) found[name] = value;
  }
  return shape === undefined ? found : parseShape(shape, found, (path) => `?${path.join(".")}`);
}

function unknownParameter(name: string, known: readonly string[]): SimError {
  const hint = known.length === 0 ? "it takes none" : `parameters: ${known.join(", ")}`;
  return new SimError("invalid_input", `unknown parameter "${name}"${didYouMean(name, known)}`, {
    pointer: `?${name}`,
    hint,
  });
}

export function jsonSchemaOf(shape: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io,
    unrepresentable: "any",
    override({ jsonSchema }) {
      // implied by "integer", and by the format
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      // of the TypeScript type only
      delete jsonSchema.readOnly;
    },
  });
  return schema;
}

const queryDocs = (shape: z.ZodObject): EndpointDocs["query"] =>
  Object.entries(shape.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description = "", ...schema } = jsonSchemaOf(field, "input");
    return { name, description: String(description), schema };
  });

const bodyErrors = [400, 408, 413, 415];

const refusals = { control: [401, 403], open: [], page: [403, 404] } as const;

function controlDocs(definition: RowHead<keyof typeof refusals>): EndpointDocs {
  const { access, query, body, errors = [] } = definition;
  const statuses = [...refusals[access], ...(query ? [400] : []), ...(body ? bodyErrors : []), ...errors];
  const isBodyOptional = body?.safeParse({}).success === true;
  return docsOf(definition, {
    errors: errorReplies({ schema: controlErrorSchema }, ...new Set(statuses)),
    isBodyOptional,
  });
}

export const endpointOf = (
  { method, path, summary, contract = false, bodyLimit }: RowHead<unknown>,
  family: Family,
): Pick<Endpoint, "methods" | "path" | "family" | "summary" | "contract" | "bodyLimit"> => {
  const methods = typeof method === "string" ? [method] : method;
  return {
    ...{ methods, path, family, summary },
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(contract && { contract: `${methods[0]} ${path}` }),
  };
};

/** What the OpenAPI document shows of a row. @param errors The error replies of its family */
export function docsOf(
  { summary, query, body, reply, status = 200, replies = {} }: RowHead<unknown>,
  { errors, isBodyOptional }: { errors: Readonly<Record<number, ReplyDocs>>; isBodyOptional: boolean },
): EndpointDocs {
  const further = Object.entries(replies).map(([code, { description, shape, type }]): [string, ReplyDocs] => [
    code,
    { description, ...(shape && { schema: jsonSchemaOf(shape, "output") }), ...(type !== undefined && { type }) },
  ]);
  return {
    ...(query && { query: queryDocs(query) }),
    ...(body && {
      body: { type: "application/json", schema: jsonSchemaOf(body, "input"), isOptional: isBodyOptional },
    }),
    replies: {
      ...errors,
      // after the errors: the answer of a row may have one of their statuses
      [status]: { description: summary, ...(reply && { schema: jsonSchemaOf(reply, "output") }) },
      ...Object.fromEntries(further),
    },
  };
}
