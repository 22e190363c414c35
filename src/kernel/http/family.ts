/**
 * Which clients an endpoint talks to. The family decides the shape of its errors (error-body.ts) and
 * its CORS rules (cors.ts).
 */
export type Family =
  | "capture" /* legacy ingestion: text errors */
  | "capture-v1" /* {error, error_description, error_uri} */
  | "flags" /* text for bad requests, JSON for auth */
  | "service" /* {type, code, detail, attr} */
  | "management" /* the same, with the CORS rules of the service's Django application */
  | "control"; /* /__sim: {code, detail, hint, pointer}; never CORS */

/** True for a path, or a target, of the control API. */
export const isControlPath = (path: string): boolean => path.startsWith("/__sim");

/** By path, for what is answered before its row is looked up. */
export const familyOf = (path: string): Family =>
  isControlPath(path) ? "control" : path.startsWith("/api") ? "service" : "capture";

/** Of a path without rows: it is answered as JSON to every client. */
export const unknownFamily = (path: string): Family =>
  isControlPath(path) ? "control" : path.startsWith("/api") ? "management" : "service";
