import { isObject, type Json } from "../kernel/json.ts";
import { ControlError, errorOf } from "./errors.ts";

/** A request to a sim. */
export interface Asked {
  method: string;
  /** From the root on, e.g. `/__sim/info`. */
  path: string;
  /** JSON. */
  body?: string;
  /** Ends it: the promise is rejected at once. */
  signal?: AbortSignal;
}

export interface Answered {
  status: number;
  body: string | Uint8Array;
}

/** Sends a request to a sim: in process, or over the network. @throws ControlError when there is no answer */
export type Send = (asked: Asked) => Promise<Answered>;

/** Makes a control call, `path` below /__sim, and returns its answer. @throws ControlError */
export type ControlCall = <T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
) => Promise<T>;

/** Fetches what a path of the sim answers, as it is. @throws ControlError */
export type ControlFetch = (path: string) => Promise<Uint8Array>;

/** Which project a handle is about; without: all. */
export interface Place {
  readonly call: ControlCall;
  readonly project?: number | undefined;
}

function parsed({ body, status }: Answered): Json {
  // jest's jsdom has no TextDecoder
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(status, {
      code: "not_a_sim",
      detail: `the answer (HTTP ${status}) is not JSON: ${JSON.stringify(text.slice(0, 60))}`,
    });
  }
}

const failureOf = (answer: Answered): ControlError => {
  const body = parsed(answer);
  return errorOf(answer.status, isObject(body) ? body : { code: "not_a_sim", detail: String(body) });
};

const isFine = ({ status }: Answered): boolean => status >= 200 && status < 300;

/** Control calls over whatever sends requests. */
export const callBy =
  (send: Send): ControlCall =>
  async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const answer = await send({
      method,
      path: `/__sim/${path}`,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (!isFine(answer)) throw failureOf(answer);
    return parsed(answer) as T;
  };

/** The same for what is not JSON. */
export const fetchBy =
  (send: Send): ControlFetch =>
  async (path) => {
    const answer = await send({ method: "GET", path });
    if (!isFine(answer)) throw failureOf(answer);
    return typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  };
