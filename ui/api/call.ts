import { signal } from "@preact/signals";
import { isControlToken } from "../../src/kernel/http/reach.ts";

/** An error of the control API. */
interface ErrorBody {
  code?: string;
  detail?: string;
  hint?: string | null;
  pointer?: string | null;
}

/** An error of the control API, or a failed connection to it. */
export class SimProblem extends Error {
  /** 0: no response. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly pointer: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.detail ?? `the sim responded with ${status}`);
    this.name = "SimProblem";
    this.status = status;
    this.code = body.code ?? "unknown";
    this.hint = body.hint ?? undefined;
    this.pointer = body.pointer ?? undefined;
  }
}

export const problemOf = (error: unknown): SimProblem =>
  error instanceof SimProblem ? error : new SimProblem(0, { detail: String(error) });

const tokenName = "phx-sim-token";

/** The token in a link, or the string itself if it is one. */
function tokenIn(text: string): string | undefined {
  const found = text.trim().replace(/^.*#t=/, "");
  return isControlToken(found) ? found : undefined;
}

/** Without access to the storage, the token lasts until the page is closed. */
function store(change: (storage: Storage) => void): void {
  try {
    change(sessionStorage);
  } catch {}
}

/** Takes the token from the address (`#t=…`) and removes it there. */
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

/** Required if the sim listens beyond loopback; null: not given. */
export const token = takeToken();

/** True if the sim rejected the token, or requires one. */
export const isLockedOut = signal(false);

/** Reloads the page with the token in a string, e.g. the inspector's link. Returns false if it contains none. */
export function unlock(text: string): boolean {
  const given = tokenIn(text);
  if (given === undefined) return false;
  store((it) => it.setItem(tokenName, given));
  location.reload();
  return true;
}

const unreachable = { code: "unreachable", detail: "the sim does not respond; check that it is running" };

async function responseOf(path: string, init: RequestInit): Promise<Response> {
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
  const response = await responseOf(path, { method, signal, ...given });
  if (response.ok) return (await response.json()) as T;
  const problem = new SimProblem(response.status, (await response.json().catch(() => ({}))) as object);
  if (problem.code === "control_token_required") isLockedOut.value = true;
  throw problem;
}

/** The bytes of a response, for a download. @throws SimProblem */
async function bytesOf(path: string): Promise<Blob> {
  const response = await responseOf(path, {});
  if (response.ok) return response.blob();
  throw new SimProblem(response.status, (await response.json().catch(() => ({}))) as object);
}

/** A query string; undefined and "" are left out. */
export function query(params: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

/** Saves a response of the control API as a file. @throws SimProblem */
export async function download(path: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await bytesOf(path));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // some browsers read the bytes with a delay
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
