import { isObject, type JsonObject } from "../kernel/json.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { RefusedCall } from "./refused-call.ts";

/** What `GET /__sim/info` answers; "locked" when the sim wants its token; undefined when no sim answers in time. */
export async function askInfo(
  url: string,
  timeoutMs: number,
  token?: string,
): Promise<JsonObject | "locked" | undefined> {
  const body = (await get(`${url}/__sim/info`, timeoutMs, token))?.body;
  if (!isObject(body)) return undefined;
  if (body.code === "control_token_required") return "locked";
  return typeof body.version === "string" && typeof body.url === "string" ? body : undefined;
}

/** Has the sim loaded its scenario? */
export async function askReady(url: string, timeoutMs: number): Promise<boolean> {
  return (await get(`${url}/__sim/ready`, timeoutMs))?.ok === true;
}

/** The parsed body of an answer; undefined when there is none: refused, late, not JSON. */
async function get(
  url: string,
  timeoutMs: number,
  token?: string,
): Promise<{ ok: boolean; body: unknown } | undefined> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
    return { ok: answer.ok, body: await answer.json() };
  } catch {
    return undefined;
  }
}

/** Where a sim is, and what opens its control API. */
export interface Address {
  readonly url: string;
  readonly token: string | undefined;
}

const callMs = 30_000;

/**
 * Makes a control call and returns its answer: `path` below /__sim, the body as JSON (bytes are JSON already).
 * @throws RefusedCall when the sim does not take what was asked or cannot do it; Failure no_sim when nobody answers
 */
export async function callSim<T>(
  sim: Address,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs = callMs,
): Promise<T> {
  const { status, answer } = await trySim(sim, method, path, body, timeoutMs);
  if (status < 300) return answer as T;
  throw new RefusedCall(status, answer);
}

/** The same for who wants to look at a refusal. @throws Failure no_sim when nobody answers */
export async function trySim(
  { url, token }: Address,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs = callMs,
): Promise<{ status: number; answer: unknown }> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" };
  if (body !== undefined)
    init.body = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  try {
    const response = await fetch(`${url}/__sim/${path}`, init);
    return { status: response.status, answer: await response.json() };
  } catch (error) {
    throw new Failure("no_sim", `${clean(url)} does not answer as phx-sim does`, error);
  }
}
