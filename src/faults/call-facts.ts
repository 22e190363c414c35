import type { Call } from "../http/call.ts";

/** A call before it is handled. */
export interface CallFacts extends Pick<Call, "method" | "path" | "headers"> {
  /** The clients that the endpoint is for (http/endpoint.ts). */
  readonly family: string;
  /** The project of the call, if its key or path names one; resolved only when a rule or an answer needs it. */
  project(): number | null;
}
