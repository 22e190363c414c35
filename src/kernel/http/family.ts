/** The clients of an endpoint. It decides the shape of errors (error-body.ts) and the CORS rules (cors.ts). */
export type Family =
  | "capture" /* legacy ingestion: text errors */
  | "capture-v1" /* {error, error_description, error_uri} */
  | "flags" /* text for bad requests, JSON for auth */
  | "service" /* {type, code, detail, attr} */
  | "management" /* the same, with the CORS rules of the service's Django application */
  | "control"; /* /__sim: {code, detail, hint, pointer}; never CORS */

export const isControlPath = (path: string): boolean => path.startsWith("/__sim");

/** By path, for what is answered before its row is looked up. */
export const familyOf = (path: string): Family =>
  isControlPath(path) ? "control" : path.startsWith("/api") ? "service" : "capture";

/** Of a path without rows: it is answered as JSON to every client. */
export const unknownFamily = (path: string): Family =>
  isControlPath(path) ? "control" : path.startsWith("/api") ? "management" : "service";
