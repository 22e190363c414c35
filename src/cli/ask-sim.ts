import { isObject, type JsonObject } from "../kernel/json.ts";

/** What `GET /__sim/info` answers; undefined when nobody or no sim answers in time. */
export async function askInfo(
  url: string,
  timeoutMs: number,
  token?: string,
): Promise<JsonObject | undefined> {
  const body = await get(`${url}/__sim/info`, timeoutMs, token);
  return isObject(body) && typeof body.version === "string" && typeof body.url === "string"
    ? body
    : undefined;
}

/** Has the sim loaded its scenario? */
export async function askReady(url: string, timeoutMs: number): Promise<boolean> {
  return (await get(`${url}/__sim/ready`, timeoutMs)) !== undefined;
}

/** The parsed body of a 2xx answer; undefined for anything else: refused, late, not JSON. */
async function get(url: string, timeoutMs: number, token?: string): Promise<unknown> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
    const text = await answer.text();
    return answer.ok ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
