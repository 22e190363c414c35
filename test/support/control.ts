import type { Sim } from "../../src/index.ts";
import type { Report } from "../../src/lab/assert/match/report-shapes.ts";
import type { StoredEvent } from "../../src/state/journal/event.ts";

/** What tests look at in answers; each answer has some of it. */
interface ControlBody {
  code: string;
  detail: string;
  pointer: string | null;
  events: StoredEvent[];
  cursor: number;
  more: boolean;
  matched: number[][];
  passed: boolean;
  settled: boolean;
  in_flight: number;
  waited_ms: number;
  report: Report;
  /** Of a project that was made. */
  id: number;
  api_key: string;
}

export interface ControlAnswer<Body = ControlBody> {
  status: number;
  answer: Body;
}

/** Calls the control API in process; a text is sent as it is. */
export async function control<Body = ControlBody>(
  sim: Sim,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<ControlAnswer<Body>> {
  const init: RequestInit = { method };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  const response = await sim.handle(new Request(`${sim.url}/__sim/${path}`, init));
  return { status: response.status, answer: (await response.json()) as Body };
}

/** Captures events in one request. */
export const captureWith =
  (sim: () => Sim) =>
  (events: object | readonly object[], { key, ...init }: RequestInit & { key?: string } = {}) =>
    sim().handle(
      new Request(`${sim().url}/batch/`, {
        method: "POST",
        body: JSON.stringify({ api_key: key ?? sim().apiKey, batch: [events].flat() }),
        ...init,
      }),
    );
