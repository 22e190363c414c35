import { isObject, type Json, own } from "../../../src/kernel/json.ts";

/** A refused request in GET /__sim/requests. */
export interface RefusedRequest {
  readonly n: number;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly rejected: { readonly reason: string; readonly detail: string } | null;
}

/** Requests that were refused for one reason. */
export interface Refusal {
  readonly reason: string;
  readonly detail: string;
  readonly count: number;
  /** The last of them. */
  readonly n: number;
  readonly status: number;
  /** Method and path of the last one. */
  readonly what: string;
}

/** The reasons why requests were rejected, each with its detail, the newest first. */
export function refusalsOf(requests: readonly RefusedRequest[]): Refusal[] {
  const byReason = new Map<string, Refusal>();
  for (const { n, method, target, status, rejected } of requests) {
    if (rejected === null) continue;
    const path = target.split("?", 1)[0] ?? "";
    // each path that does not exist is a mistake of its own, and each thing that is wrong with a body
    const key = status === 404 ? `404 ${path}` : `${rejected.reason} ${rejected.detail}`;
    const known = byReason.get(key);
    if (known) byReason.set(key, { ...known, count: known.count + 1 });
    else byReason.set(key, { ...rejected, count: 1, n, status, what: `${method} ${path}` });
  }
  return [...byReason.values()];
}

const keyNames = ["api_key", "token", "$token"] as const;

const textIn = (value: Json | undefined, names: readonly string[]): string | undefined => {
  if (!isObject(value)) return undefined;
  return names.map((name) => own(value, name)).find((it): it is string => typeof it === "string");
};

/** The project key that came in a body: beside the events, or in the first of them. */
export function keyIn(body: Json | undefined): string | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return undefined;
  const batch = own(first, "batch");
  const inBatch = Array.isArray(batch) ? batch[0] : undefined;
  return [first, own(first, "properties"), inBatch]
    .map((it) => textIn(it, keyNames))
    .find((it) => it !== undefined);
}
