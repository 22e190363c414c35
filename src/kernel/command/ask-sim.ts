import { isObject, type JsonObject, stepsOf } from "../base/json.ts";
import { durationText } from "../base/time-text.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type Options, parameterOf, spelledOption } from "./options.ts";

export const headersOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** The answer of `GET /__sim/info`; "locked" if the sim requires its token; undefined if no sim answers in time. */
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

/** True once the sim has loaded its scenario. */
export async function askReady(url: string, timeoutMs: number): Promise<boolean> {
  return (await get(`${url}/__sim/ready`, timeoutMs))?.ok === true;
}

/** The parsed body of an answer; undefined if there is none: refused, late, not JSON. */
async function get(
  url: string,
  timeoutMs: number,
  token?: string,
): Promise<{ ok: boolean; body: unknown } | undefined> {
  try {
    const init = { headers: headersOf(token), signal: AbortSignal.timeout(timeoutMs), redirect: "error" } as const;
    const answer = await fetch(url, init);
    return { ok: answer.ok, body: await answer.json() };
  } catch {
    return undefined;
  }
}

export interface Address {
  readonly url: string;
  readonly token: string | undefined;
}

const callMs = 30_000;

/** Makes a control call, `path` below /__sim; bytes are JSON already. @throws RefusedCall; Failure no_sim */
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

/** The same without an error for a refusal. @throws Failure no_sim if no sim answers */
export async function trySim(
  { url, token }: Address,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs = callMs,
): Promise<{ status: number; answer: unknown }> {
  const headers = headersOf(token);
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" };
  if (body !== undefined) init.body = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  try {
    const response = await fetch(`${url}/__sim/${path}`, init);
    return { status: response.status, answer: await response.json() };
  } catch (error) {
    throw new Failure("no_sim", `${clean(url)} does not respond like phx-sim`, error);
  }
}

interface Refusal {
  readonly detail: string;
  readonly hint?: string;
  /** The place of the mistake: `?limit`, `/match/route`. */
  readonly pointer?: string;
}

const textOf = ({ detail, hint }: Refusal): string => clean(hint === undefined ? detail : `${detail}; ${hint}`);

/** A call that the sim refused, in the words of the control API. `command` translates it to those of the command line. */
export class RefusedCall extends Failure {
  readonly refusal: Refusal;

  constructor(status: number, answer: unknown) {
    const { detail, hint, pointer } = isObject(answer) ? answer : {};
    const refusal = {
      detail: typeof detail === "string" ? detail : `the sim responded with ${status}`,
      ...(typeof hint === "string" && { hint }),
      ...(typeof pointer === "string" && { pointer }),
    };
    super(status < 500 ? "usage" : "failed", textOf(refusal));
    this.refusal = refusal;
  }
}

/** Options whose value is sent as the whole body. */
const wholeBodies = ["fault", "file"];

/** Phrases of the control API, and their form on the command line. */
const phrases: readonly (readonly [api: string, commandLine: string])[] = [
  ["GET /__sim/info", "`phx-sim status --json`"],
  ["GET /__sim/exports/runs", "`phx-sim exports runs`"],
  ["GET /__sim/state or ", ""],
  ["DELETE /__sim/events", "`phx-sim events clear`"],
  ["DELETE /__sim/snapshots/{name}", "`phx-sim state delete NAME`"],
  ["leave out project, or leave out compact", "leave out --project, or leave out --compact"],
  ["compact=true", "--compact"],
  ['"force" sets', "--force sets"],
  [", or milliseconds as a number", ""],
  [", or milliseconds since 1970", ""],
  ["send `Authorization: Bearer <token>`", "give --token"],
];

/** `milliseconds from 0 to 60000, got 1200000` → `a time from 0 to 1 min, got 20 min`. */
const inUnits = (text: string): string =>
  text.replace(
    /milliseconds from (\d+) to (\d+), got (\d+)/,
    (_, least, most, got) => `a time from ${least} to ${durationText(Number(most))}, got ${durationText(Number(got))}`,
  );

const inPhrases = (text: string): string =>
  phrases.reduce((result, [api, commandLine]) => result.replaceAll(api, commandLine), inUnits(text));

type Origins = Readonly<Record<string, { readonly source: string }>>;

interface Place {
  readonly name: string;
  readonly option: string;
}

/** The option that a pointer refers to; one that was given comes first. */
function placeOf(pointer: string, options: Options, origins: Origins): Place | undefined {
  const steps = stepsOf(pointer.replace(/^\?/, "/"));
  const places = steps.flatMap((name) =>
    Object.keys(options)
      .filter((option) => parameterOf(option, options[option] ?? {}) === name)
      .map((option) => ({ name, option })),
  );
  const isGiven = ({ option }: Place) => origins[option]?.source !== "default";
  const whole = wholeBodies.find((option) => Object.hasOwn(options, option));
  return places.find(isGiven) ?? (whole === undefined ? places[0] : { name: pointer, option: whole });
}

export function inOptionNames({ kind, refusal, cause }: RefusedCall, options: Options, origins: Origins): Failure {
  const { detail, hint, pointer } = refusal;
  const place = pointer === undefined ? undefined : placeOf(pointer, options, origins);
  return new Failure(
    kind,
    textOf({
      detail: inPhrases(place ? detailAt(detail, place, options) : detail),
      ...(hint !== undefined && { hint: inPhrases(hint) }),
    }),
    cause,
  );
}

function detailAt(detail: string, { name, option }: Place, options: Options): string {
  const spelled = spelledOption(option, options[option] ?? {});
  const quoted = `"${name}"`;
  if (detail.includes(quoted)) return detail.replace(quoted, spelled);
  const within = name.startsWith("/") ? ` ${name}` : "";
  return detail.startsWith("--") ? detail : `${spelled}${within}: ${detail}`;
}

const mostCounts = 200;

/** A count of the control API, asked for until it is complete. */
export async function wholeCount<Totals extends { readonly counting: boolean }>(
  ask: () => Promise<Totals>,
): Promise<Totals> {
  for (let call = 1; ; call++) {
    const totals = await ask();
    if (!totals.counting || call === mostCounts) return totals;
  }
}
