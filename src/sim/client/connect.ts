import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { version } from "../../kernel/base/version.ts";
import { accessOf } from "../../kernel/call/access.ts";
import { callBy, causeOf, type Fetch, type Send, sendOverNetwork } from "../../kernel/call/call.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import { checkOptions, keysOf } from "../../kernel/call/option-keys.ts";
import { controlTokenExpected, isControlToken } from "../../kernel/http/reach.ts";
import type { SimClient } from "./api.ts";
import { createClient } from "./client.ts";

/** How to reach a sim. */
export interface ConnectOptions {
  /** Control token of a sim that was started with one or is open to the network. Default: `PHX_SIM_TOKEN`. */
  token?: string;
  /** Sends the requests (default: the platform's sockets, so that a stubbed `fetch` has no effect). */
  fetch?: Fetch;
  /** How long assertions of this handle wait by default, ms. Default: `PHX_SIM_WAIT`, else 4,000. */
  waitMs?: number;
}

const optionKeys = keysOf<ConnectOptions>({ token: true, fetch: true, waitMs: true });

/** Limit of the first answer, ms: a busy machine may take seconds. */
const patience = 15_000;

const startHint = "start one with `phx-sim start`, or run the command below `phx-sim exec -- …`";

const problem = (code: string, detail: string, hint: string, cause?: unknown): ControlError =>
  new ControlError(0, { code, detail, hint }, { cause });

/** Scheme, host and port. @throws ControlError no_sim */
function baseOf(url: string | undefined): string {
  if (url === undefined || url === "")
    throw problem("no_sim", "connectSim() was given no address, and PHX_SIM_URL is not set", startHint);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed.origin;
  throw problem(
    "no_sim",
    `${JSON.stringify(url)} is not the address of a sim`,
    "give scheme, host and port, e.g. http://127.0.0.1:7490",
  );
}

type Explain = (error: ControlError, base: string, token: string | undefined) => ControlError;

const explained: Readonly<Record<string, Explain>> = {
  no_sim: ({ cause }, base) => problem("no_sim", `nothing answers at ${base} (${causeOf(cause)})`, startHint, cause),
  control_token_required: (_, base, token) =>
    problem(
      "control_token_required",
      `the sim at ${base} ${token === undefined ? "needs its control token" : "has another control token"}`,
      "pass { token }, or set PHX_SIM_TOKEN, to what the sim was started with (--token or PHX_SIM_TOKEN), else to the token in its banner and run.json",
    ),
  forbidden_host: (error) => error,
};

const somethingElse = (base: string, what: string): ControlError =>
  problem("not_a_sim", `another program than phx-sim answers at ${base}: ${what}`, startHint);

async function factsOf(send: Send, base: string, token: string | undefined): Promise<JsonObject> {
  const signal = AbortSignal.timeout(patience);
  try {
    return await callBy(send)<JsonObject>("GET", "info", undefined, signal);
  } catch (error) {
    if (signal.aborted) throw problem("no_sim", `${base} does not answer within ${patience} ms`, startHint);
    if (!(error instanceof ControlError)) throw error;
    throw explained[error.code]?.(error, base, token) ?? somethingElse(base, `HTTP ${error.status}`);
  }
}

const majorOf = (text: string): string => text.split(".")[0] ?? "";

/** @throws ControlError not_a_sim, other_version */
function checkFacts(facts: unknown, base: string): void {
  if (!isObject(facts) || facts.name !== "phx-sim" || typeof facts.version !== "string")
    throw somethingElse(base, "its /__sim/info is not that of phx-sim");
  if (majorOf(facts.version) === majorOf(version)) return;
  throw problem(
    "other_version",
    `the sim at ${base} is version ${facts.version}, this is ${version}`,
    "use the same major version of phx-sim on both sides",
  );
}

/**
 * Connects to a sim that runs elsewhere: `await connectSim("http://127.0.0.1:7490")`, or, below
 * `phx-sim exec`, `await connectSim()`. The handle is the same as that of a sim in process; closing it does not stop the sim.
 * @param url Scheme, host and port; default `PHX_SIM_URL`
 * @throws ControlError `no_sim` nothing answers there, `not_a_sim` another program does, `other_version`,
 * `control_token_required`, `bad_token`
 */
export async function connectSim(url?: string, options: ConnectOptions = {}): Promise<SimClient> {
  checkOptions("connectSim", { 1: optionKeys }, [url, options], connectSim);
  const base = baseOf(url ?? process.env.PHX_SIM_URL);
  const token = options.token ?? (process.env.PHX_SIM_TOKEN || undefined);
  if (token !== undefined && !isControlToken(token))
    throw problem("bad_token", "this cannot be a control token", `a token has ${controlTokenExpected}`);
  const send = sendOverNetwork(base, { token, fetch: options.fetch });
  const facts = await factsOf(send, base, token);
  checkFacts(facts, base);
  return createClient({ ...accessOf(base, facts), send, waitMs: options.waitMs, close: async () => {} });
}
