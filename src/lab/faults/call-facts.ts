import type { Call } from "../../kernel/http/call.ts";

export interface CallFacts extends Pick<Call, "method" | "path" | "headers"> {
  /** The clients that the endpoint is for (http/endpoint.ts). */
  readonly family: string;
  /** The project of the call, if its key or path names one; resolved only when a rule or an answer needs it. */
  project(): number | null;
}

/** Shape of the `X-Test-Id` header, which names a partition. */
export const partitionShape = /^[\x21-\x7e]{1,200}$/;

/** The partition that a request's `X-Test-Id` header names, if it can be one. */
export function partitionOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = headers["x-test-id"];
  return name !== undefined && partitionShape.test(name) ? name : undefined;
}
