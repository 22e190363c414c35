import { signal } from "@preact/signals";
import { isControlToken } from "../../src/kernel/reach.ts";

/** The control API's errors; what it has nothing to say about is null. */
interface ErrorBody {
  code?: string;
  detail?: string;
  hint?: string | null;
  pointer?: string | null;
}

/** What the control API says when it refuses, or what is the matter when it cannot be reached. */
export class SimProblem extends Error {
  /** 0: no answer. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly pointer: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.detail ?? `the sim answered ${status}`);
    this.name = "SimProblem";
    this.status = status;
    this.code = body.code ?? "unknown";
    this.hint = body.hint ?? undefined;
    this.pointer = body.pointer ?? undefined;
  }
}

/** What went wrong with a call, whatever was thrown. */
export const problemOf = (error: unknown): SimProblem =>
  error instanceof SimProblem ? error : new SimProblem(0, { detail: String(error) });

const tokenName = "phx-sim-token";

/** The token in a link, or the text itself if it is one. */
function tokenIn(text: string): string | undefined {
  const found = text.trim().replace(/^.*#t=/, "");
  return isControlToken(found) ? found : undefined;
}

/** A page whose storage is closed to it keeps the token as long as it is open. */
function store(change: (storage: Storage) => void): void {
  try {
    change(sessionStorage);
  } catch {
    // then it is asked for again next time
  }
}

/** The token comes in the address (`#t=…`), once, and does not stay there. */
function takeToken(): string | null {
  let found = tokenIn(location.hash) ?? null;
  if (found === null) {
    store((it) => {
      found = it.getItem(tokenName);
    });
    return found;
  }
  const given = found;
  store((it) => it.setItem(tokenName, given));
  history.replaceState(null, "", `${location.pathname}#/`);
  return given;
}

/** Needed once the port is bound wider than loopback; null: none was given. */
export const token = takeToken();

/** Did the sim ask for a token that is not there, or another one? */
export const isLockedOut = signal(false);

/** Begins anew with the token in a text, e.g. in the inspector's link; false: there is none in it. */
export function unlock(text: string): boolean {
  const given = tokenIn(text);
  if (given === undefined) return false;
  store((it) => it.setItem(tokenName, given));
  location.reload();
  return true;
}

const unreachable = { code: "unreachable", detail: "the sim does not answer; is it still running?" };

async function answerOf(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  try {
    return await fetch(`/__sim/${path}`, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new SimProblem(0, unreachable);
  }
}

/**
 * Calls the control API.
 * @param path Below /__sim/, with its query
 * @throws SimProblem
 */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  signal: AbortSignal | null = null,
): Promise<T> {
  const given =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await answerOf(path, { method, signal, ...given });
  if (answer.ok) return (await answer.json()) as T;
  const problem = new SimProblem(answer.status, (await answer.json().catch(() => ({}))) as object);
  if (problem.code === "control_token_required") isLockedOut.value = true;
  throw problem;
}

/** The bytes of an answer, for a download. @throws SimProblem */
export async function bytesOf(path: string): Promise<Blob> {
  const answer = await answerOf(path, {});
  if (answer.ok) return answer.blob();
  throw new SimProblem(answer.status, (await answer.json().catch(() => ({}))) as object);
}

/** A query string from what is given; undefined and "" are left out. */
export function query(params: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}
