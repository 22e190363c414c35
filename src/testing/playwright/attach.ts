import type { Frame, Request, Route } from "@playwright/test";
import type { Tenant } from "../../client/api.ts";
import { checkOptions, keysOf } from "../../client/option-keys.ts";
import { type HostRule, hostRuleFor, placeOf, readHostRule, serviceHosts } from "../../kernel/host-rules.ts";
import { maskKeys } from "../../kernel/secrets.ts";
import { disguise, disguisedHeader } from "./disguise.ts";
import { type Escape, verifyEscapes } from "./escape-error.ts";
import { type Forwarded, forward } from "./forward.ts";
import { looksLikeSdk } from "./looks.ts";

/** A page or a context of Playwright: what both have. */
export interface AttachTarget {
  route(url: (url: URL) => boolean, handler: (route: Route) => Promise<void>): Promise<unknown>;
  unroute(url: (url: URL) => boolean, handler?: (route: Route) => Promise<void>): Promise<unknown>;
  addInitScript(script: () => void): Promise<unknown>;
  on(event: "request", listener: (request: Request) => void): unknown;
  off(event: "request", listener: (request: Request) => void): unknown;
}

export interface AttachOptions {
  /**
   * Where the app sends its events besides PostHog's own hosts, e.g. its reverse proxy: `e.example.com`,
   * `*.example.com`, `localhost:3000/ingest`, `/ingest` (of any host). A path is taken off before the sim sees it.
   */
  hosts?: readonly string[];
  /**
   * Requests that look like PostHog's and go elsewhere: true lets all of them be, a list (spelled like `hosts`) those.
   * Default: none.
   */
  allowEscapes?: boolean | readonly string[];
  /** Hides from posthog-js that the browser is driven: its bot filter captures nothing. Default true. */
  disguise?: boolean;
}

/** What `attach` gives back. */
export interface Attachment extends AsyncDisposable {
  /** Requests that look like PostHog's but went neither to the sim nor were rerouted, oldest first. */
  escapes(): readonly Escape[];
  /** @throws EscapeError naming them */
  verify(): void;
  /** Waits up to a second for rerouted requests under way, then ends them. The routes stay: closing pages still send. */
  finish(): Promise<void>;
  /** Takes the routes away again. Harmless when the page is closed, or when done twice. */
  detach(): Promise<void>;
}

/** What Playwright calls the ways a connection fails, by Node's codes. */
const abortReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connectionrefused",
  ECONNRESET: "connectionreset",
  EPIPE: "connectionreset",
  ETIMEDOUT: "timedout",
  ABORT_ERR: "aborted",
};

const reasonOf = (error: unknown): string =>
  (error instanceof Error && "code" in error && abortReasons[String(error.code)]) || "failed";

/** The page may be closed by now, or its request given up: then nobody waits for the answer. */
const quietly = (done: Promise<unknown>): Promise<void> => done.then(() => {}).catch(() => {});

/** Where a request belongs at the sim: the rule's own path is taken off. */
function targetAt(host: string, url: URL, rule: HostRule | undefined): URL {
  const path = url.pathname.slice(rule?.prefix.length ?? 0);
  return new URL(`${path.startsWith("/") ? path : `/${path}`}${url.search}`, host);
}

const disguised = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, disguisedHeader(value)]));

interface Rerouting {
  tenant: Pick<Tenant, "host" | "projectId">;
  rules: readonly HostRule[];
  isDisguised: boolean;
  signal: AbortSignal;
}

/** Asks the sim in the project's name, whatever key the request carries. */
function askSim(request: Request, { tenant, rules, isDisguised, signal }: Rerouting): Promise<Forwarded> {
  const url = new URL(request.url());
  const headers = request.headers();
  return forward({
    url: targetAt(tenant.host, url, hostRuleFor(rules, placeOf(url))),
    method: request.method(),
    headers: { ...(isDisguised ? disguised(headers) : headers), "x-phx-project": String(tenant.projectId) },
    body: request.postDataBuffer(),
    signal,
  });
}

async function reroute(route: Route, rerouting: Rerouting): Promise<void> {
  const answer = await askSim(route.request(), rerouting).catch(reasonOf);
  await quietly(typeof answer === "string" ? route.abort(answer) : route.fulfill(answer));
}

function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame();
  } catch {
    // Requests of service workers have none.
    return undefined;
  }
}

/** Pages and contexts that are attached. */
const attached = new WeakSet<object>();

/** True if the request is of a page that is attached on its own: its context does not watch it. */
const isOfAnother = (target: AttachTarget, frame: Frame | undefined): boolean => {
  const page = frame?.page();
  return page !== undefined && page !== target && attached.has(page);
};

/** Collects requests of the target that should have been rerouted. */
function escapeWatch(
  target: AttachTarget,
  isKnown: (url: URL) => boolean,
  allow: AttachOptions["allowEscapes"],
) {
  const escapes: Escape[] = [];
  const allowed = (Array.isArray(allow) ? allow : allow === true ? ["*"] : []).map(readHostRule);
  return {
    escapes,
    look(request: Request): void {
      const url = URL.canParse(request.url()) ? new URL(request.url()) : undefined;
      if (!url || !/^https?:$/.test(url.protocol) || isKnown(url)) return;
      if (hostRuleFor(allowed, placeOf(url)) !== undefined) return;
      const sighted = { method: request.method(), url, body: () => request.postData() ?? "" };
      if (!looksLikeSdk(sighted)) return;
      const frame = frameOf(request);
      if (isOfAnother(target, frame)) return;
      escapes.push({ method: request.method(), url: maskKeys(url.href), page: frame?.url() ?? "" });
    },
  };
}

/** What the fixture attached: where a test attaches the same on its own, that takes its place. */
const ofFixture = new WeakMap<AttachTarget, Attachment>();

/** Attaches a context for a test, unless the test does so itself. */
export async function attachForTest(...args: Parameters<typeof attach>): Promise<Attachment> {
  const attachment = await attach(...args);
  ofFixture.set(args[0], attachment);
  return attachment;
}

const optionKeys = keysOf<AttachOptions>({ hosts: true, allowEscapes: true, disguise: true });

const patience = 1_000;

/** Waits for all, but no longer than `patience`. */
async function untilDone(pending: ReadonlySet<Promise<void>>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  await Promise.race([Promise.all(pending), late]);
  clearTimeout(timer);
}

/**
 * Answers what a page (or every page of a context) sends to PostHog from the sim, in the project's name: the app keeps
 * its host and its key. Attach before the page is opened; a context also covers popups and, in Chromium with
 * Playwright 1.57 or newer, service workers (elsewhere set `serviceWorkers: "block"`: their requests are not seen).
 * Requests straight to the sim, whatever key they carry, become the project's, too.
 * @example const attachment = await attach(context, await sim.project());
 * @throws TypeError when a host cannot be read, or for an unknown option
 */
export async function attach(
  target: AttachTarget,
  tenant: Pick<Tenant, "host" | "projectId">,
  options: AttachOptions = {},
): Promise<Attachment> {
  checkOptions("attach", { 2: optionKeys }, [target, tenant, options], attach);
  const rules = [...serviceHosts, ...(options.hosts ?? [])].map(readHostRule);
  const isKnown = (url: URL) =>
    url.origin === new URL(tenant.host).origin || hostRuleFor(rules, placeOf(url)) !== undefined;
  const watch = escapeWatch(target, isKnown, options.allowEscapes);
  const ending = new AbortController();
  const isDisguised = options.disguise ?? true;
  const pending = new Set<Promise<void>>();
  const handler = (route: Route): Promise<void> => {
    const done = reroute(route, { tenant, rules, isDisguised, signal: ending.signal });
    pending.add(done);
    return done.finally(() => pending.delete(done));
  };

  await ofFixture.get(target)?.detach();
  ofFixture.delete(target);
  attached.add(target);
  if (isDisguised) await target.addInitScript(disguise);
  await target.route(isKnown, handler);
  target.on("request", watch.look);

  const detach = async () => {
    target.off("request", watch.look);
    attached.delete(target);
    ending.abort();
    await quietly(target.unroute(isKnown, handler));
  };
  return {
    escapes: () => watch.escapes.slice(),
    verify: () => verifyEscapes(watch.escapes),
    async finish() {
      await untilDone(pending);
      ending.abort();
    },
    detach,
    [Symbol.asyncDispose]: detach,
  };
}
