import type { Call } from "./call.ts";
import type { Family } from "./family.ts";
import type { Reply } from "./reply.ts";

/** `open`: all callers; `page`: browsers, without the token; `badge`: pages of other loopback origins as well. */
export type ControlAccess = "control" | "open" | "page" | "badge";

export type JsonSchema = { readonly [key: string]: unknown };

export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface ReplyDocs {
  readonly description: string;
  readonly schema?: JsonSchema;
  /** Media type of a body that is not JSON; beside a schema: of one that may come instead. Neither: no body. */
  readonly type?: string;
}

/** An endpoint in the OpenAPI document, apart from its path. Made on first use. */
export interface EndpointDocs {
  readonly query?: readonly QueryParameter[];
  readonly headers?: readonly QueryParameter[];
  /** Which key comes in the Authorization header; absent: the family's (see openapi.ts). */
  readonly bearer?: "project";
  readonly body?: { readonly type: string; readonly schema: JsonSchema; readonly isOptional?: boolean };
  readonly replies: Readonly<Record<number, ReplyDocs>>;
}

export interface EndpointFacts {
  readonly methods: readonly string[];
  /** `/api/projects/:project_id/things/:id`, without a trailing slash; both spellings are served. */
  readonly path: string;
  readonly family: Family;
  /** One line for the OpenAPI document and the coverage table. */
  readonly summary: string;
  readonly contract?: string;
  readonly scope?: string;
  /** Of a row of the control API (default: `control`). */
  readonly access?: ControlAccess;
  readonly bodyLimit?: number;
  /** True (the default) if its traffic is kept in the journal; the control API's is not. */
  readonly journaled?: boolean;
  /** False: pages of other origins cannot read its answers. Default: as the family. */
  readonly cors?: false;
  /** True: pages of other origins may load it as a script. Default: nothing below /__sim can be. */
  readonly isEmbeddable?: true;
  /** Every method of the path, for the Allow header of each answer; absent: only where it is required. */
  readonly allow?: string;
  docs?(): EndpointDocs;
}

export interface Endpoint extends EndpointFacts {
  /** Answers a method that the path does not have, OPTIONS included; absent: the usual 405. */
  otherMethod?(call: Call): Reply;
  handle(call: Call): Reply | Promise<Reply>;
}

const megabyte = 1024 * 1024;

export const defaultBodyLimit = 20 * megabyte;

export const recordingBodyLimit = 25 * megabyte;

export const largestBodyLimit = 30 * megabyte;
