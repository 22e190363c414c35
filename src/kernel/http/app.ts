import { SimError } from "../base/errors.ts";
import { maskKeys } from "../base/secrets.ts";
import { isBrowsersOwn } from "./browser-requests.ts";
import type { Call, CallFault } from "./call.ts";
import { corsHeaders, isPreflight, preflight } from "./cors.ts";
import { defaultBodyLimit, type Endpoint, type Family, largestBodyLimit } from "./endpoint.ts";
import { asSimError, errorReply, storageFailed } from "./error-body.ts";
import { type FaultPort, faulted, pause } from "./fault.ts";
import { embeddable, empty, headerOf, type Reply, sameOriginOnly } from "./reply.ts";
import type { Match, Router } from "./router.ts";

/** Why a request was rejected. */
export interface Rejection {
  reason: string;
  detail: string;
  /** What the sender can do about it, where the error has it. */
  hint?: string;
}

export interface AppOptions {
  router: Router;
  /**
   * Keeps the call with its record and the reply, and resolves once they are written.
   * What it rejects with is answered as `storage_failed`.
   */
  journal: (call: Call, reply: Reply) => Promise<void>;
  /**
   * Fills the record of a call that no handler sees: its project and its body. `adopts`: a key that no project has
   * may become a project. Must not throw.
   */
  identify: (call: Call, family: Family, adopts: boolean) => void;
  /** Answers a path that no row has. */
  unknownPath: (call: Call, endpoints: readonly Endpoint[]) => SimError;
  /** Receives errors that are not answers: bugs. */
  onCrash: (error: unknown, call: Call) => void;
  /** Receives what the disk said when it refused what a request is about. */
  onRefusal: (error: unknown) => void;
  /** What goes wrong on purpose; never with the control API. */
  faults?: FaultPort;
  /** Answers the probes of a check; they are not kept. */
  probes?: { readonly active: boolean; take(call: Call): Reply | undefined };
}

/** The core: a call in, a reply out. Calls come from a socket or a web Request. */
export interface App {
  handle(call: Call): Promise<Reply>;
  /** Largest body in bytes for a method and path, known before the body is read. */
  bodyLimit(method: string, path: string): number;
  /** The answer to a call whose body is larger than its limit; the call carries no body. */
  refuseTooLarge(call: Call): Promise<Reply>;
  /** Keeps a request that ended before its body did; the call carries what had come. */
  abandon(call: Call, why: "sender_gone" | "body_read_timeout"): Promise<Reply>;
}

/** The core as recordings need it. */
export interface ObservingApp extends App {
  /**
   * Keeps a call that an upstream answered with `given`. With `isShadowed` its handler runs as usual; the answer that
   * it would have given is returned, and not sent.
   */
  observe(call: Call, given: Reply, how: Observing): Promise<Reply | undefined>;
}

/** What is done with a call that an upstream has answered. */
interface Observing {
  isShadowed(family: Family): boolean;
  /** Why it counts as rejected. */
  rejection: Rejection | undefined;
}

/** Families by path, for what is answered before or without a row. */
const familyOf = (path: string): Family =>
  path.startsWith("/__sim") ? "control" : path.startsWith("/api") ? "service" : "capture";

/** What the end of an answer depends on; an endpoint is one. */
type Kind = Pick<Endpoint, "family" | "journaled" | "allow" | "cors" | "isEmbeddable">;

/** An unknown path is answered as JSON to every client. */
const unknownFamily = (path: string): Family =>
  path.startsWith("/__sim") ? "control" : path.startsWith("/api") ? "management" : "service";

/** Reasons of paths and files that do not exist. */
const missing: ReadonlySet<string> = new Set(["not_found", "not_emulated"]);

/** The row that answers the call, or the first of its path; a path without rows has a family only. */
function kindIn(match: Match | undefined, call: Call): Kind {
  const [first] = match?.byMethod.values() ?? [];
  return match?.byMethod.get(call.method) ?? first ?? { family: unknownFamily(call.path) };
}

/** Errors of the machine, not of the request. */
const isRefused: ReadonlySet<string> = new Set(["storage_failed", "not_ready"]);

export function createApp(options: AppOptions): ObservingApp {
  const { router, journal, identify, unknownPath, onCrash, onRefusal, faults, probes } = options;

  function failed(call: Call, family: Family, thrown: unknown): [Reply, Rejection] {
    const error = asSimError(thrown);
    if (error.code === "internal") onCrash(error.extra.cause ?? error, call);
    if (isRefused.has(error.code)) onRefusal(error.extra.cause);
    const { attr, hint } = error.extra;
    // The answer names the field by itself; who reads the log wants to know it as well.
    const detail = attr === undefined ? error.message : `${attr}: ${error.message}`;
    return [errorReply(family, error), { reason: error.code, detail, ...(hint !== undefined && { hint }) }];
  }

  function finish(call: Call, kind: Kind, given: Reply, rejection?: Rejection) {
    const reply = call.fault === undefined ? given : faulted(given, call.fault);
    const full: Reply = {
      status: reply.status,
      headers: finalHeaders(call, kind, reply),
      body: reply.body,
      stream: reply.stream,
      stalled: reply.stalled,
      fault: reply.fault,
      scripted: reply.scripted,
      source: reply.source,
      transport: reply.transport,
    };
    const answer = call.method === "HEAD" ? headOf(full) : full;
    if (kind.journaled === false) return Promise.resolve(answer);
    return keep(call, full, rejection).then(
      () => answer,
      (thrown: unknown) => failed(call, kind.family, notKept(thrown, call))[0],
    );
  }

  /** Completes the record, and journals it. */
  function keep(call: Call, reply: Reply, rejection: Rejection | undefined): Promise<void> {
    const { record } = call;
    if (rejection && !(missing.has(rejection.reason) && isBrowsersOwn(call)))
      record.rejected = masked(rejection);
    if (reply.fault !== undefined) record.fault = reply.fault;
    if (reply.scripted) record.scripted = true;
    if (reply.source !== undefined) record.source = reply.source;
    return journal(call, reply);
  }

  /** What the journal rejected with. */
  function notKept(thrown: unknown, call: Call): SimError {
    const error = asSimError(thrown);
    if (error.code === "storage_failed") return error;
    onCrash(thrown, call);
    return storageFailed(thrown);
  }

  function finishError(call: Call, kind: Kind, thrown: unknown): Promise<Reply> {
    const [reply, rejection] = failed(call, kind.family, thrown);
    return finish(call, kind, reply, rejection);
  }

  function run(call: Call, endpoint: Endpoint, answer = handled): Promise<Reply> {
    try {
      const reply = answer(call, endpoint);
      if (!(reply instanceof Promise)) return finish(call, endpoint, reply);
      return reply.then(
        (it) => finish(call, endpoint, it),
        (thrown: unknown) => finishError(call, endpoint, thrown),
      );
    } catch (thrown) {
      return finishError(call, endpoint, thrown);
    }
  }

  async function withoutMatch(call: Call): Promise<Reply> {
    const family = unknownFamily(call.path);
    const kind = { family, journaled: family !== "control" };
    if (family === "management" && isPreflight(call)) return finish(call, kind, preflight(call, family, []));
    const error = await router.endpoints().then((all) => unknownPath(call, all), asSimError);
    return finishError(call, kind, error);
  }

  function dispatch(call: Call, match: Match | undefined): Promise<Reply> {
    if (match) call.params = match.params;
    if (faults?.active && !call.path.startsWith("/__sim")) return applyFault(call, match, faults);
    return route(call, match);
  }

  /** Applies what is to go wrong with the call. */
  async function applyFault(call: Call, match: Match | undefined, port: FaultPort): Promise<Reply> {
    const kind = kindIn(match, call);
    call.fault = port.take(call, kind.family);
    if (call.fault === undefined) return route(call, match);
    const { delay } = call.fault;
    if (delay > 0) await pause(delay, call.signal, port.closing);
    const answer = await call.fault.answer;
    if (answer === undefined) return route(call, match);
    identify(call, kind.family, false);
    return finish(call, kind, answer, refusalOf(call.fault, answer));
  }

  function route(call: Call, match: Match | undefined): Promise<Reply> {
    if (!match) return withoutMatch(call);
    const endpoint =
      match.byMethod.get(call.method) ?? (call.method === "HEAD" ? match.byMethod.get("GET") : undefined);
    if (!endpoint) return withoutRow(call, match);
    const limit = endpoint.bodyLimit ?? defaultBodyLimit;
    return call.body.length > limit ? tooLarge(call, endpoint, limit) : run(call, endpoint);
  }

  /** OPTIONS, and methods that the path does not have. */
  function withoutRow(call: Call, match: Match): Promise<Reply> {
    const [first] = match.byMethod.values();
    const kind: Kind = first ?? { family: familyOf(call.path) };
    const allow = allowed(match);
    if (first?.otherMethod && !isPreflight(call)) return run(call, first, refused);
    if (call.method === "OPTIONS") return finish(call, kind, preflight(call, kind.family, allow));
    const detail = `Method "${call.method}" not allowed.`;
    const [reply, rejection] = failed(call, kind.family, new SimError("method_not_allowed", detail));
    // The capture edge and the flags service answer a wrong method without a body.
    const bare = kind.family === "capture" || kind.family === "flags" ? empty(405) : reply;
    const headers = [...bare.headers, "allow", allow.join(", ")];
    return finish(call, kind, { ...bare, headers }, rejection);
  }

  function tooLarge(call: Call, endpoint: Endpoint | undefined, limit: number): Promise<Reply> {
    const family = endpoint?.family ?? familyOf(call.path);
    const journaled = endpoint?.journaled !== false && family !== "control";
    const detail = `maximum event size exceeded: the body is larger than ${limit} bytes`;
    return finishError(call, { family, journaled }, new SimError("payload_too_large", detail));
  }

  /** What the emulator would say. */
  async function shadowed(call: Call, match: Match | undefined, kind: Kind): Promise<Reply> {
    try {
      if (!match) throw unknownPath(call, await router.endpoints());
      const endpoint = match.byMethod.get(call.method === "HEAD" ? "GET" : call.method);
      if (!endpoint && call.method === "OPTIONS") return preflight(call, kind.family, allowed(match));
      if (!endpoint) throw new SimError("method_not_allowed", `Method "${call.method}" not allowed.`);
      const reply = await endpoint.handle(call);
      return { ...reply, headers: finalHeaders(call, kind, reply) };
    } catch (thrown) {
      const [reply] = failed(call, kind.family, thrown);
      return { ...reply, headers: finalHeaders(call, kind, reply) };
    }
  }

  async function observe(call: Call, given: Reply, how: Observing): Promise<Reply | undefined> {
    // what an upstream answered is kept also where a part of the emulator cannot be loaded
    const match = router.exact(call.path) ?? (await router.search(call.path).catch(() => undefined));
    if (match) call.params = match.params;
    const kind = kindIn(match, call);
    const own = how.isShadowed(kind.family) ? await shadowed(call, match, kind) : undefined;
    if (!own) identify(call, kind.family, true);
    await keep(call, given, how.rejection).catch((thrown: unknown) => {
      failed(call, kind.family, notKept(thrown, call));
    });
    return own;
  }

  /** A row that is not loaded yet may take the largest body; its own limit is checked once it is known. */
  function bodyLimit(method: string, path: string): number {
    const match = router.exact(path);
    return match ? (match.byMethod.get(method)?.bodyLimit ?? defaultBodyLimit) : largestBodyLimit;
  }

  /** The answer to a probe; undefined for every other call. */
  function probed(call: Call): Promise<Reply> | undefined {
    const reply = probes?.active ? probes.take(call) : undefined;
    return reply && finish(call, { family: "capture", journaled: false }, reply);
  }

  return {
    handle(call) {
      const probe = probed(call);
      if (probe) return probe;
      const match = router.exact(call.path);
      if (match) return dispatch(call, match);
      return router.search(call.path).then(
        (found) => dispatch(call, found),
        (thrown: unknown) => finishError(call, kindIn(undefined, call), thrown),
      );
    },
    bodyLimit,
    observe,
    refuseTooLarge(call) {
      const probe = probed(call);
      if (probe) return probe;
      const endpoint = router.exact(call.path)?.byMethod.get(call.method);
      return tooLarge(call, endpoint, bodyLimit(call.method, call.path));
    },
    abandon(call, why) {
      return (
        probed(call) ?? finishError(call, { family: familyOf(call.path) }, new SimError(why, abandoned[why]))
      );
    },
  };
}

const masked = ({ reason, detail, hint }: Rejection): Rejection => ({
  reason,
  detail: maskKeys(detail),
  ...(hint !== undefined && { hint: maskKeys(hint) }),
});

const handled = (call: Call, endpoint: Endpoint): Reply | Promise<Reply> => endpoint.handle(call);

/** The row's answer to a method that its path does not have. */
const refused = (call: Call, endpoint: Endpoint) => endpoint.otherMethod?.(call) ?? empty(405);

const abandoned = {
  sender_gone: "the sender went away before its body was complete",
  body_read_timeout: "the body did not arrive in time",
} as const;

/** Why an answer replaces the handler's. */
const causes = {
  fault: (name: string) => `the fault ${name} is in force`,
  script: (name: string) => `${name} was given`,
  tape: (name: string) => `${name} has this response`,
} as const;

/** Why a call counts as rejected whose answer replaced the handler's; undefined where that is no refusal. */
function refusalOf({ source, name, transport, rejection }: CallFault, answer: Reply): Rejection | undefined {
  if (transport === undefined && answer.status < 400) return undefined;
  const cause = source ?? "fault";
  return rejection ?? { reason: cause, detail: `${causes[cause](name)}; the request was not handled` };
}

const emulator = ["x-phx-source", "emulator"];
const fault = ["x-phx-source", "fault"];
const script = ["x-phx-source", "script"];

function sourceOf(reply: Reply): readonly string[] {
  if (reply.scripted) return script;
  if (reply.fault !== undefined) return fault;
  return reply.source === undefined ? emulator : ["x-phx-source", reply.source];
}

/** A page of another origin reads scripted answers, too; what they say of that themselves counts. */
const withoutNamed = (flat: readonly string[], reply: Reply): string[] =>
  flat.filter((_, i) => headerOf(reply, flat[i - (i % 2)] ?? "") === undefined);

function finalHeaders(
  call: Call,
  { family, allow, cors: limit, isEmbeddable }: Kind,
  reply: Reply,
): string[] {
  const given = limit === false ? [] : corsHeaders(call, family);
  const cors = reply.scripted ? withoutNamed(given, reply) : given;
  const source = sourceOf(reply);
  const headers = cors.length > 0 ? [...reply.headers, ...cors, ...source] : [...reply.headers, ...source];
  if (allow !== undefined) headers.push("allow", allow);
  if (family === "control") headers.push(...(isEmbeddable ? embeddable : sameOriginOnly));
  return headers;
}

const allowed = (match: Match): string[] => {
  const methods = new Set(match.byMethod.keys());
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"];
};

/** The answer to HEAD: the GET's headers and length, no body. A recorded one has the length that it had. */
function headOf(reply: Reply): Reply {
  if (reply.source !== undefined && reply.body === null) return reply;
  if (reply.stream !== undefined)
    return { ...reply, headers: [...reply.headers, "transfer-encoding", "chunked"], stream: undefined };
  const length = reply.body === null ? 0 : Buffer.byteLength(reply.body);
  return { ...reply, headers: [...reply.headers, "content-length", String(length)], body: null };
}
