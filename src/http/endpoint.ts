import type { Call } from "./call.ts";
import type { Reply } from "./reply.ts";

/**
 * Which clients an endpoint talks to. The family decides the shape of its errors (error-body.ts) and
 * its CORS rules (cors.ts).
 */
export type Family =
  | "capture" /* legacy ingestion: text errors */
  | "capture-v1" /* {error, error_description, error_uri} */
  | "flags" /* text for bad requests, JSON for auth */
  | "service" /* {type, code, detail, attr} */
  | "control"; /* /__sim: {code, detail, hint, pointer}; never CORS */

/** One row of the API. Routes, docs and the coverage table are read from the rows. */
export interface Endpoint {
  readonly methods: readonly string[];
  /** `/api/projects/:project_id/things/:id`, without a trailing slash; both spellings are served. */
  readonly path: string;
  readonly family: Family;
  /** One line for the OpenAPI document and the coverage table. */
  readonly summary: string;
  /** Which contract row it fulfils, e.g. `POST /capture/`; absent when only the live service has it. */
  readonly contract?: string;
  /** Scope that a personal key needs, e.g. `dashboard:read`. */
  readonly scope?: string;
  /** Largest body in bytes, on the wire. */
  readonly bodyLimit?: number;
  /** Is its traffic kept in the journal? Default true; the control API's is not. */
  readonly journaled?: boolean;
  handle(call: Call): Reply | Promise<Reply>;
}

const megabyte = 1024 * 1024;

/** The contract's limit for a whole request body. */
export const defaultBodyLimit = 20 * megabyte;

/** The service accepts larger session recordings. */
export const recordingBodyLimit = 25 * megabyte;

/** What is read before the row that sets the limit is known. */
export const largestBodyLimit = 30 * megabyte;
