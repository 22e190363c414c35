import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Server as HttpServer, IncomingMessage, type ServerResponse } from "node:http";
import { Server as HttpsServer } from "node:https";
import { createRequire } from "node:module";
import { Server as NetServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { nameTest } from "../../kernel/base/wildcard.ts";
import { type ExitOrder, type ExitRecord, exitVariable, type SdkCall } from "./exit-record.ts";

/**
 * Loaded into Node children by `exec --kill-after-response`: ends the process when a response has left, as serverless
 * platforms do, and records what posthog-node had queued.
 */

const most = 10_000;

type Method = (...args: unknown[]) => unknown;
type Methods = Record<string, Method | undefined>;

type EventOf = (props: unknown) => string;

const namedEvent: EventOf = (props) => textIn(props, "event") ?? "";

/** Methods of the SDK's client that queue one event, with its name. */
const queueing: Readonly<Record<string, EventOf>> = {
  capture: namedEvent,
  captureAi: namedEvent,
  captureException: () => "$exception",
  identify: () => "$identify",
  alias: () => "$create_alias",
  groupIdentify: () => "$groupidentify",
};

const immediate: Readonly<Record<string, EventOf>> = {
  captureImmediate: namedEvent,
  captureAiImmediate: namedEvent,
  captureExceptionImmediate: () => "$exception",
  identifyImmediate: () => "$identify",
  aliasImmediate: () => "$create_alias",
  groupIdentifyImmediate: () => "$groupidentify",
};

const fieldOf = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((it, key) => (typeof it === "object" && it !== null ? Reflect.get(it, key) : undefined), value);

const textIn = (value: unknown, key: string): string | undefined => {
  const found = fieldOf(value, key);
  return typeof found === "string" ? found : undefined;
};

const foreign = /[\\/](?:posthog-node|@posthog[\\/]\w+)[\\/]|\bnode:|exit-preload/;

function siteOf(stack: string | undefined): string | null {
  for (const line of stack?.split("\n").slice(1) ?? []) {
    const place = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1];
    if (place !== undefined && !foreign.test(line))
      return place.startsWith("file:") ? place.replace(/^file:\/\/[^:]*/, (url) => fileURLToPath(url)) : place;
  }
  return null;
}

/** Set by the SDK on the events that it makes of exceptions, whose own call was counted. */
const isOfException = (props: unknown): boolean => fieldOf(props, "_originatedFromCaptureException") === true;

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const whenSettled = (value: unknown, end: () => void): void => {
  Promise.resolve(value).then(end, end);
};

const metricsIn = (payload: unknown): string[] =>
  listIn(fieldOf(payload, "resourceMetrics"))
    .flatMap((it) => listIn(fieldOf(it, "scopeMetrics")))
    .flatMap((it) => listIn(fieldOf(it, "metrics")))
    .map((it) => String(fieldOf(it, "name")));

function getterOf(prototype: object, name: string): ((this: unknown) => unknown) | undefined {
  for (let it: object | null = prototype; it !== null; it = Object.getPrototypeOf(it) as object | null) {
    const found = Object.getOwnPropertyDescriptor(it, name);
    if (found) return found.get;
  }
  return undefined;
}

class Ledger {
  readonly queued: SdkCall[] = [];
  readonly preparing = new Set<SdkCall>();
  readonly pending = new Set<SdkCall>();
  readonly sentAtOnce = new Set<string>();
  readonly #calls: SdkCall[] = [];
  /** The names of metrics in requests that have no response yet. */
  readonly #metricsUnderway: string[] = [];
  readonly #clients = new Set<object>();
  readonly #patchedMetrics = new WeakSet<object>();
  #sending: readonly string[] = [];
  #current: SdkCall | undefined;

  patch(prototype: Methods): void {
    for (const [name, eventOf] of Object.entries(queueing))
      this.#around(prototype, name, ([props]) =>
        isOfException(props) ? undefined : this.#called("event", eventOf(props)),
      );
    for (const [name, eventOf] of Object.entries(immediate)) this.#patchImmediate(prototype, name, eventOf);
    // the SDK's own events, such as those of flags
    this.#around(prototype, "enqueue", () => undefined);
    // what an event needs before it is queued
    this.#around(prototype, "addPendingPromise", ([promise]) => {
      const call = this.#current;
      if (call !== undefined && !this.pending.has(call)) {
        this.preparing.add(call);
        whenSettled(promise, () => void this.preparing.delete(call));
      }
      return undefined;
    });
    this.#around(prototype, "captureLog", ([options]) => this.#called("log", textIn(options, "body") ?? ""));
    for (const name of ["startSpan", "withSpan"])
      this.#around(prototype, name, ([span]) => (typeof span === "string" ? this.#called("span", span) : undefined));
    this.#patchMetricsOf(prototype);
  }

  unsent(): { unsent: SdkCall[]; unread: string[] } {
    const found: SdkCall[] = [];
    const unread = new Set<string>();
    const add = (kind: SdkCall["kind"], name: unknown) => {
      const event = typeof name === "string" ? name : "";
      found.push({ kind, event, uuid: null, site: this.#takeCall(kind, event)?.site ?? null });
    };
    for (const client of this.#clients) {
      const logs = (client as Methods).getPersistedProperty?.call(client, "logs_queue");
      for (const it of listIn(logs)) add("log", fieldOf(it, "record", "body", "stringValue"));
      if (fieldOf(client, "_logs") !== undefined && logs !== undefined && !Array.isArray(logs)) unread.add("logs");
      const spans = fieldOf(client, "_traces", "_queue");
      for (const it of listIn(spans)) add("span", fieldOf(it, "name"));
      if (fieldOf(client, "_traces") !== undefined && !Array.isArray(spans)) unread.add("spans");
      const series = fieldOf(client, "_metrics", "_series");
      if (series instanceof Map) for (const it of series.values()) add("metric", fieldOf(it, "name"));
      else if (fieldOf(client, "_metrics") !== undefined) unread.add("metrics");
    }
    for (const it of this.#metricsUnderway) add("metric", it);
    return { unsent: found, unread: [...unread] };
  }

  #keep(list: SdkCall[], call: SdkCall): void {
    list.push(call);
    if (list.length > most) list.shift();
  }

  #called(kind: SdkCall["kind"], event: string): SdkCall {
    const call = { kind, event, uuid: null, site: siteOf(new Error().stack) };
    this.#keep(this.#calls, call);
    return call;
  }

  #takeCall(kind: SdkCall["kind"], event: string): SdkCall | undefined {
    const at = this.#calls.findIndex((it) => it.kind === kind && it.event === event);
    return at === -1 ? undefined : this.#calls.splice(at, 1)[0];
  }

  #hear(payload: unknown): void {
    const event = textIn(payload, "event");
    const uuid = textIn(payload, "uuid");
    if (event === undefined || uuid === undefined) return;
    const call = this.#takeCall("event", event);
    if (call) this.preparing.delete(call);
    this.#keep(this.queued, { kind: "event", event, uuid, site: call?.site ?? null });
  }

  /** `on` is the SDK's own, documented way. */
  #watch(client: unknown): void {
    if (typeof client !== "object" || client === null || this.#clients.has(client)) return;
    this.#clients.add(client);
    const { on } = client as Methods;
    for (const type of ["capture", "identify", "alias"]) on?.call(client, type, (it: unknown) => this.#hear(it));
  }

  /** Has `before` run before a method; its result is passed to `after`. */
  #around(
    prototype: Methods,
    name: string,
    before: (args: readonly unknown[]) => SdkCall | undefined,
    after: (call: SdkCall | undefined, result: unknown) => void = () => {},
  ): void {
    const method = prototype[name];
    if (method === undefined) return;
    const enter = (client: unknown, args: unknown[]) => {
      this.#watch(client);
      const call = before(args);
      const outer = this.#current;
      this.#current = call ?? outer;
      try {
        const result = method.apply(client, args);
        after(call, result);
        return result;
      } finally {
        this.#current = outer;
      }
    };
    prototype[name] = function patched(this: unknown, ...args: unknown[]) {
      return enter(this, args);
    };
  }

  #patchImmediate(prototype: Methods, name: string, eventOf: EventOf): void {
    this.#around(
      prototype,
      name,
      ([props]) => {
        const event = eventOf(props);
        this.sentAtOnce.add(event);
        if (isOfException(props)) return undefined;
        const call = { kind: "event", event, uuid: null, site: siteOf(new Error().stack) } as const;
        this.pending.add(call);
        return call;
      },
      (call, result) => whenSettled(result, () => void (call && this.pending.delete(call))),
    );
  }

  #patchMetricsOf(prototype: Methods): void {
    this.#around(
      prototype,
      "_sendMetricsBatch",
      ([payload]) => {
        this.#sending = metricsIn(payload);
        this.#metricsUnderway.push(...this.#sending);
        return undefined;
      },
      (_, result) => {
        const names = this.#sending;
        whenSettled(result, () => {
          for (const it of names) this.#metricsUnderway.splice(this.#metricsUnderway.indexOf(it), 1);
        });
      },
    );
    const metrics = getterOf(prototype, "metrics");
    if (!metrics) return;
    const read = (client: unknown): unknown => {
      this.#watch(client);
      const found = metrics.call(client);
      this.#patchMetrics(found);
      return found;
    };
    Object.defineProperty(prototype, "metrics", {
      configurable: true,
      get(this: unknown) {
        return read(this);
      },
    });
  }

  #patchMetrics(metrics: unknown): void {
    if (typeof metrics !== "object" || metrics === null || this.#patchedMetrics.has(metrics)) return;
    this.#patchedMetrics.add(metrics);
    for (const name of ["count", "gauge", "histogram"]) {
      const method = (metrics as Methods)[name];
      if (method === undefined) continue;
      Reflect.set(metrics, name, (...args: unknown[]) => {
        this.#called("metric", String(args[0]));
        return method.apply(metrics, args);
      });
    }
  }
}

const ledger = new Ledger();
const patched = new WeakSet<object>();

function patchIn(module: unknown): boolean {
  const found = fieldOf(module, "PostHog");
  if (typeof found !== "function") return false;
  const prototype = found.prototype as object;
  if (!patched.has(prototype)) ledger.patch(prototype as Methods);
  patched.add(prototype);
  return true;
}

const roots = (): string[] => [process.cwd(), ...(process.argv[1] ? [dirname(resolve(process.argv[1]))] : [])];

/** Both builds of the SDK that `import` and `require` from this folder load. */
async function patchFrom(root: string): Promise<boolean> {
  const require = createRequire(join(root, "a.js"));
  try {
    const file = require.resolve("posthog-node");
    const required = patchIn(require(file));
    const module = esmOf(file);
    return (module !== undefined && patchIn(await import(pathToFileURL(module).href))) || required;
  } catch {
    return false;
  }
}

function esmOf(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) continue;
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as {
      exports?: { "."?: { node?: { import?: string }; import?: string } };
    };
    const path = exports?.["."]?.node?.import ?? exports?.["."]?.import;
    return path === undefined ? undefined : join(folder, path);
  }
  return undefined;
}

let patching: Promise<boolean> | undefined;

/** Finds the SDK once the process has a server: others need no watch. */
function findSdk(): void {
  patching ??= Promise.all(roots().map(patchFrom)).then((found) => found.includes(true));
}

/** Promises that the platform waits for, as `waitUntil` and `after` pass them on. */
const awaited = new Set<Promise<unknown>>();

/** Platforms end work after the response that takes longer, ms. */
const longestWork = 30_000;

/** Work that is done may have begun more. */
async function allWork(): Promise<void> {
  while (awaited.size > 0) await Promise.all(awaited);
}

/** As on the platforms, for `waitUntil` of @vercel/functions and `after` of Next.js. */
function offerWaitUntil(): void {
  const waitUntil = (promise: unknown) => {
    const work = Promise.resolve(promise).then(
      () => {},
      () => {},
    );
    awaited.add(work);
    void work.then(() => awaited.delete(work));
  };
  const context = { get: () => ({ waitUntil }) };
  for (const name of ["@vercel/request-context", "@next/request-context"])
    Object.defineProperty(globalThis, Symbol.for(name), { value: context, configurable: true, writable: true });
}

/** Requests of probes and of pages for their own files, which do not end the process. */
const probe = /^\/(?:favicon\.ico|robots\.txt|_next\/|(?:api\/)?(?:_?health|_?live|_?ready|ping|status)[\w-]*\/?$)/;

const sayTo =
  (file: string) =>
  (record: ExitRecord): void =>
    appendFileSync(file, `${JSON.stringify(record)}\n`);

function start({ file, path }: ExitOrder): void {
  const say = sayTo(file);
  const wanted = path === undefined ? undefined : nameTest(path);
  let isEnding = false;

  const counts = (method: string, target: string) =>
    method !== "OPTIONS" && (wanted === undefined ? !probe.test(target) : wanted(target));

  async function end(method: string, target: string, status: number): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    const isWatched = (await patching) === true;
    const tooLate = new Promise((end) => setTimeout(end, longestWork).unref());
    await Promise.race([allWork(), tooLate]);
    // The SDK emits a queued event in a later turn.
    await new Promise((turn) => setImmediate(turn));
    const { queued, preparing, pending, sentAtOnce } = ledger;
    say({
      ...{ kind: "killed", method, path: target, status, isWatched, queued },
      ...{ preparing: [...preparing], pending: [...pending], immediate: [...sentAtOnce] },
      ...ledger.unsent(),
    });
    process.kill(process.pid, "SIGKILL");
  }

  const follow = (server: { emit: Method }) => {
    const { emit } = server;
    server.emit = function patched(this: unknown, ...args: unknown[]) {
      const [name, request, response] = args;
      if (name === "request" && request instanceof IncomingMessage) {
        const method = request.method ?? "";
        const target = (request.url ?? "").replace(/[?#].*$/s, "");
        const answer = response as ServerResponse;
        if (counts(method, target))
          answer.once("finish", () => setImmediate(() => void end(method, target, answer.statusCode)));
      }
      return emit.apply(this, args);
    };
  };
  for (const server of [HttpServer, HttpsServer]) follow(server.prototype as unknown as { emit: Method });

  const { listen } = NetServer.prototype;
  NetServer.prototype.listen = function patched(this: NetServer, ...args: unknown[]) {
    if (this instanceof HttpServer || this instanceof HttpsServer) findSdk();
    else if (/^Http2(?:Secure)?Server$/.test(this.constructor.name)) say({ kind: "unwatched", part: "http2" });
    return Reflect.apply(listen, this, args);
  } as typeof listen;
  offerWaitUntil();
  say({ kind: "loaded" });
}

const order = process.env[exitVariable];
if (order) {
  const parsed = JSON.parse(order) as ExitOrder;
  if (isMainThread) start(parsed);
  else sayTo(parsed.file)({ kind: "unwatched", part: "worker" });
}
