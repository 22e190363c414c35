import { SimError } from "../base/errors.ts";
import { maskKeys } from "../base/secrets.ts";
import { isBrowsersOwn } from "./browser-requests.ts";
import type { Call } from "./call.ts";
import { isPreflight, preflight } from "./cors.ts";
import { defaultBodyLimit, type Endpoint, largestBodyLimit } from "./endpoint.ts";
import { asSimError, errorReply, storageFailed } from "./error-body.ts";
import { type Family, familyOf } from "./family.ts";
import { finalReply, type ReplyKind, sentReply } from "./final-reply.ts";
import { type Layer, type Next, through } from "./layer.ts";
import { empty, type Rejection, type Reply } from "./reply.ts";
import type { Match, Router } from "./router.ts";

export interface AppOptions {
  router: Router;
  /** What stands between calls and their rows, the first outermost; never with the control API. */
  layers?: readonly Layer[];
  /** Resolves once the call is written with record and reply; what it rejects with is answered `storage_failed`. */
  journal: (call: Call, reply: Reply) => Promise<void>;
  /** Fills project and body of a call without a handler. `adopts`: an unknown key makes a project. Must not throw. */
  identify: (call: Call, adopts: boolean) => void;
  unknownPath: (call: Call, endpoints: readonly Endpoint[]) => SimError;
  onCrash: (error: unknown, call: Call) => void;
  /** Receives what the disk said when it refused what a request is about. */
  onRefusal: (error: unknown) => void;
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

export interface ObservingApp extends App {
  /** Keeps a call that an upstream answered. With `isShadowed` its row answers, too; that is returned, and not sent. */
  observe(call: Call, given: Reply, how: Observing): Promise<Reply | undefined>;
}

interface Observing {
  isShadowed(family: Family): boolean;
  rejection: Rejection | undefined;
}

type Kind = ReplyKind & Pick<Endpoint, "journaled">;

interface Route {
  readonly match: Match | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly kind: Kind;
}

export const createApp = (options: AppOptions): ObservingApp => new Core(options);

/** Route, layers, row (which checks access, parses and answers), reply, record. */
class Core implements ObservingApp {
  readonly #options: AppOptions;
  readonly #router: Router;
  readonly #layers: readonly Layer[];

  constructor(options: AppOptions) {
    this.#options = options;
    this.#router = options.router;
    this.#layers = options.layers ?? [];
  }

  handle(call: Call): Promise<Reply> {
    const match = this.#router.exact(call.path);
    if (match) return this.#answer(call, routed(call, match));
    return this.#router.search(call.path).then(
      (found) => this.#answer(call, routed(call, found)),
      (thrown: unknown) => this.#finish(call, routed(call, undefined).kind, this.#failed(call, thrown)),
    );
  }

  #answer(call: Call, route: Route): Promise<Reply> {
    const row = () => this.#caught(call, () => this.#emulated(call, withinLimit(call, route)));
    const finish = (reply: Reply) => this.#finish(call, route.kind, reply);
    const fail = (thrown: unknown) => finish(this.#failed(call, thrown));
    try {
      const reply = call.family === "control" ? row() : through(this.#layers, call, row);
      return reply instanceof Promise ? reply.then(finish, fail) : finish(reply);
    } catch (thrown) {
      return fail(thrown);
    }
  }

  #emulated(call: Call, { match, endpoint }: Route): Reply | Promise<Reply> {
    if (!match) return this.#withoutMatch(call);
    return endpoint ? endpoint.handle(call) : this.#withoutRow(call, match);
  }

  async #withoutMatch(call: Call): Promise<Reply> {
    if (call.family === "management" && isPreflight(call)) return preflight(call, call.family, []);
    throw this.#options.unknownPath(call, await this.#router.endpoints());
  }

  #withoutRow(call: Call, match: Match): Reply {
    const [first] = match.byMethod.values();
    if (first?.otherMethod && !isPreflight(call)) return first.otherMethod(call);
    const allow = allowed(match);
    if (call.method === "OPTIONS") return preflight(call, call.family, allow);
    const error = new SimError("method_not_allowed", `Method "${call.method}" not allowed.`);
    const { rejection, ...reply } = this.#failed(call, error);
    // The capture edge and the flags service answer a wrong method without a body.
    const bare = call.family === "capture" || call.family === "flags" ? empty(405) : reply;
    return { ...bare, headers: [...bare.headers, "allow", allow.join(", ")], rejection };
  }

  #caught(call: Call, answer: Next): Reply | Promise<Reply> {
    try {
      const reply = answer();
      if (!(reply instanceof Promise)) return reply;
      return reply.then(undefined, (thrown: unknown) => this.#failed(call, thrown));
    } catch (thrown) {
      return this.#failed(call, thrown);
    }
  }

  #failed(call: Call, thrown: unknown): Reply {
    const { onCrash, onRefusal } = this.#options;
    const error = asSimError(thrown);
    if (error.code === "internal") onCrash(error.extra.cause ?? error, call);
    if (refusals.has(error.code)) onRefusal(error.extra.cause);
    const { attr, hint } = error.extra;
    // The answer names the field by itself; who reads the log wants to know it as well.
    const detail = attr === undefined ? error.message : `${attr}: ${error.message}`;
    const rejection = { reason: error.code, detail, ...(hint !== undefined && { hint }) };
    return { ...errorReply(call.family, error), rejection };
  }

  /** Completes the reply, and keeps the call with it; nothing after that can throw. */
  #finish(call: Call, kind: Kind, given: Reply): Promise<Reply> {
    const reply = finalReply(call, kind, given);
    const sent = sentReply(call, reply);
    if (kind.journaled === false) return Promise.resolve(sent);
    return this.#keep(call, reply, given.rejection).then(
      () => sent,
      (thrown: unknown) => this.#notKept(call, thrown),
    );
  }

  #keep(call: Call, reply: Reply, rejection: Rejection | undefined): Promise<void> {
    const { record } = call;
    if (rejection && !(missing.has(rejection.reason) && isBrowsersOwn(call))) record.rejected = masked(rejection);
    if (reply.fault !== undefined) record.fault = reply.fault;
    if (reply.scripted) record.scripted = true;
    if (reply.source !== undefined) record.source = reply.source;
    try {
      return this.#options.journal(call, reply);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #notKept(call: Call, thrown: unknown): Reply {
    const error = asSimError(thrown);
    if (error.code === "storage_failed") return this.#failed(call, error);
    this.#options.onCrash(thrown, call);
    return this.#failed(call, storageFailed(thrown));
  }

  async observe(call: Call, given: Reply, how: Observing): Promise<Reply | undefined> {
    // what an upstream answered is kept also where a part of the emulator cannot be loaded
    const found = this.#router.exact(call.path) ?? this.#router.search(call.path).catch(() => undefined);
    const route = routed(call, await found);
    const isShadowed = how.isShadowed(call.family);
    const own = isShadowed ? await this.#caught(call, () => this.#emulated(call, route)) : undefined;
    if (!own) this.#options.identify(call, true);
    await this.#keep(call, given, how.rejection).catch((thrown: unknown) => this.#notKept(call, thrown));
    return own && sentReply(call, finalReply(call, route.kind, own));
  }

  /** A row that is not loaded yet may take the largest body; its own limit is checked once it is known. */
  bodyLimit(method: string, path: string): number {
    const match = this.#router.exact(path);
    return match ? (match.byMethod.get(method)?.bodyLimit ?? defaultBodyLimit) : largestBodyLimit;
  }

  refuseTooLarge(call: Call): Promise<Reply> {
    const endpoint = this.#router.exact(call.path)?.byMethod.get(call.method);
    call.family = endpoint?.family ?? familyOf(call.path);
    const kind = endpoint ?? { family: call.family, journaled: call.family !== "control" };
    return this.#finish(call, kind, this.#failed(call, tooLarge(call, this.bodyLimit(call.method, call.path))));
  }

  abandon(call: Call, why: keyof typeof abandoned): Promise<Reply> {
    const family = familyOf(call.path);
    call.family = family;
    return this.#finish(call, { family }, this.#failed(call, new SimError(why, abandoned[why])));
  }
}

function routed(call: Call, match: Match | undefined): Route {
  if (!match) {
    const { family } = call;
    return { match, endpoint: undefined, kind: { family, journaled: family !== "control" } };
  }
  const { byMethod, params } = match;
  const endpoint = byMethod.get(call.method) ?? (call.method === "HEAD" ? byMethod.get("GET") : undefined);
  const kind = endpoint ?? byMethod.values().next().value ?? { family: call.family };
  call.params = params;
  call.family = kind.family;
  return { match, endpoint, kind };
}

function withinLimit(call: Call, route: Route): Route {
  const limit = route.endpoint?.bodyLimit ?? defaultBodyLimit;
  if (route.endpoint && call.body.length > limit) throw tooLarge(call, limit);
  return route;
}

const tooLarge = ({ family }: Pick<Call, "family">, limit: number): SimError => {
  const what = family === "control" || family === "management" ? "" : "maximum event size exceeded: ";
  return new SimError("payload_too_large", `${what}the body is larger than ${limit} bytes`);
};

const abandoned = {
  sender_gone: "the sender went away before its body was complete",
  body_read_timeout: "the body did not arrive in time",
} as const;

const missing: ReadonlySet<string> = new Set(["not_found", "not_emulated"]);

/** Errors of the machine, not of the request. */
const refusals: ReadonlySet<string> = new Set(["storage_failed", "not_ready"]);

const masked = ({ reason, detail, hint }: Rejection): Rejection => ({
  reason,
  detail: maskKeys(detail),
  ...(hint !== undefined && { hint: maskKeys(hint) }),
});

const allowed = (match: Match): string[] => {
  const methods = new Set(match.byMethod.keys());
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"];
};
