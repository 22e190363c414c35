import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Server as HttpServer, IncomingMessage, type ServerResponse } from "node:http";
import { Server as HttpsServer } from "node:https";
import { createRequire } from "node:module";
import { Server as NetServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { nameTest } from "../base/wildcard.ts";
import { type ExitOrder, type ExitRecord, exitVariable, type SdkCall } from "./exit-record.ts";

/**
 * Loaded into Node children by `--require` for `exec --kill-after-response`: ends the process when a response has left, as
 * serverless platforms do, and records what posthog-node had queued.
 */

/** Calls and queued events that are kept: the newest. */
const most = 10_000;

type Method = (...args: unknown[]) => unknown;
type Methods = Record<string, Method | undefined>;

/** Methods of the SDK's client that queue one event, with its name. */
const queueing: Readonly<Record<string, (props: unknown) => string>> = {
  capture: (props) => textIn(props, "event") ?? "",
  identify: () => "$identify",
  alias: () => "$create_alias",
  groupIdentify: () => "$groupidentify",
};

const textIn = (value: unknown, key: string): string | undefined => {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === "string" ? found : undefined;
};

/** Paths of the SDK and of this file: not the app's. */
const foreign = /[\\/](?:posthog-node|@posthog[\\/]\w+)[\\/]|\bnode:|exit-preload/;

/** The app's line that called the SDK. */
function siteOf(stack: string | undefined): string | null {
  for (const line of stack?.split("\n").slice(1) ?? []) {
    const place = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1];
    if (place !== undefined && !foreign.test(line))
      return place.startsWith("file:")
        ? place.replace(/^file:\/\/[^:]*/, (url) => fileURLToPath(url))
        : place;
  }
  return null;
}

/** What the SDK was asked to send. */
function createLedger() {
  const queued: SdkCall[] = [];
  const pending = new Set<SdkCall>();
  const sites: { event: string; site: string | null }[] = [];
  const watched = new WeakSet<object>();
  const keep = <T>(list: T[], item: T) => {
    list.push(item);
    if (list.length > most) list.shift();
  };
  /** A queued event, as the SDK emits it. */
  const hear = (payload: unknown) => {
    const event = textIn(payload, "event");
    const uuid = textIn(payload, "uuid");
    if (event === undefined || uuid === undefined) return;
    const call = sites.findIndex((it) => it.event === event);
    const [{ site } = { site: null }] = call === -1 ? [] : sites.splice(call, 1);
    keep(queued, { event, uuid, site });
  };
  /** The events of a client; `on` is the SDK's own, documented way. */
  const watch = (client: unknown) => {
    if (typeof client !== "object" || client === null || watched.has(client)) return;
    watched.add(client);
    const { on } = client as Methods;
    for (const type of ["capture", "identify", "alias"]) on?.call(client, type, hear);
  };
  /** Adds to the methods of the SDK's class; its own work stays as it is. */
  const patch = (prototype: Methods) => {
    for (const [name, eventOf] of Object.entries(queueing)) {
      const method = prototype[name];
      if (method === undefined) continue;
      prototype[name] = function patched(this: unknown, ...args: unknown[]) {
        watch(this);
        keep(sites, { event: eventOf(args[0]), site: siteOf(new Error().stack) });
        return method.apply(this, args);
      };
    }
    const { captureImmediate } = prototype;
    if (captureImmediate === undefined) return;
    prototype.captureImmediate = function patched(this: unknown, ...args: unknown[]) {
      const event = textIn(args[0], "event") ?? "";
      const call: SdkCall = { event, uuid: null, site: siteOf(new Error().stack) };
      pending.add(call);
      const result = captureImmediate.apply(this, args);
      const end = () => void pending.delete(call);
      Promise.resolve(result).then(end, end);
      return result;
    };
  };
  return { patch, queued, pending };
}

const ledger = createLedger();
const patched = new WeakSet<object>();

function patchIn(module: unknown): boolean {
  const found: unknown = typeof module === "object" && module !== null && Reflect.get(module, "PostHog");
  if (typeof found !== "function") return false;
  const prototype = found.prototype as object;
  if (!patched.has(prototype)) ledger.patch(prototype as Methods);
  patched.add(prototype);
  return true;
}

/** The folders in which the app may have the SDK. */
const roots = (): string[] => [
  process.cwd(),
  ...(process.argv[1] ? [dirname(resolve(process.argv[1]))] : []),
];

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

/** The file that `import "posthog-node"` loads. */
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
    Object.defineProperty(globalThis, Symbol.for(name), {
      value: context,
      configurable: true,
      writable: true,
    });
}

/** Requests of probes and of pages for their own files, which do not end the process. */
const probe =
  /^\/(?:favicon\.ico|robots\.txt|_next\/|(?:api\/)?(?:_?health|_?live|_?ready|ping|status)[\w-]*\/?$)/;

function start({ file, path }: ExitOrder): void {
  const say = (record: ExitRecord) => appendFileSync(file, `${JSON.stringify(record)}\n`);
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
    const { queued, pending } = ledger;
    say({ kind: "killed", method, path: target, status, isWatched, queued, pending: [...pending] });
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
    return Reflect.apply(listen, this, args);
  } as typeof listen;
  offerWaitUntil();
  say({ kind: "loaded" });
}

const order = process.env[exitVariable];
if (order && isMainThread) start(JSON.parse(order) as ExitOrder);
