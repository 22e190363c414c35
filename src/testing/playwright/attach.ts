import type { Browser, BrowserContext, Frame, Page, Request, Route } from "@playwright/test";
import { isObject } from "../../kernel/base/json.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import { maskKeys } from "../../kernel/base/secrets.ts";
import { checkOptions, keysOf } from "../../kernel/call/option-keys.ts";
import {
  type HostRule,
  hostRuleFor,
  isLoopbackHost,
  placeOf,
  readHostRule,
  serviceHosts,
} from "../../kernel/http/host-rules.ts";
import {
  disguise,
  disguisedHeader,
  type Escape,
  type EscapeCause,
  type Forwarded,
  forward,
  leavingScript,
  looksLikeSdk,
  type ToForward,
  verifyEscapes,
} from "../../lab/egress/browser-traffic.ts";
import type { Tenant } from "../../sim/client/api.ts";
import { projectParameter } from "../../state/journal/traffic.ts";
import { adBlockSources, adBlockTest } from "./ad-block.ts";
import type { AnswerUnrouted } from "./stand-in.ts";

type RequestEvent = "request" | "requestfinished" | "requestfailed";

export interface AttachTarget {
  /** Of a context. */
  pages?(): readonly Page[];
  browser?(): Browser | null;
  /** Of a page. */
  frames?(): readonly Frame[];
  context?(): BrowserContext;
  route(url: (url: URL) => boolean, handler: (route: Route) => Promise<void>): Promise<unknown>;
  unroute(url: (url: URL) => boolean, handler?: (route: Route) => Promise<void>): Promise<unknown>;
  addInitScript(script: (() => void) | { content: string }): Promise<unknown>;
  on(event: RequestEvent, listener: (request: Request) => void): unknown;
  off(event: RequestEvent, listener: (request: Request) => void): unknown;
}

export interface AttachOptions {
  /**
   * Hosts that the app uses as well as PostHog's own, e.g. its reverse proxy: `e.example.com`, `*.example.com`,
   * `localhost:3000/ingest`, `/ingest` (of any host). The path is removed before the request goes to the sim.
   */
  hosts?: readonly string[];
  /**
   * Requests that look like PostHog's and may go elsewhere: true for all, or a list in the notation of `hosts`
   * (default: none).
   */
  allowEscapes?: boolean | readonly string[];
  /**
   * Blocks what filter lists block, before it leaves the browser: true for the rules of common lists about PostHog's hosts,
   * or rules in their notation, e.g. `||e.example.com^` (default: nothing).
   */
  adBlocked?: boolean | readonly string[];
  /** Hides from posthog-js that the browser is automated: with its bot filter it captures nothing. Default true. */
  disguise?: boolean;
}

export interface Attachment extends AsyncDisposable {
  /** Requests that `adBlocked` blocked, oldest first. */
  blocked(): readonly BlockedRequest[];
  /** Requests that look like PostHog's but did not go to the sim, oldest first. */
  escapes(): readonly Escape[];
  /** @throws EscapeError naming them */
  verify(): void;
  /** Waits up to a second for running requests, then ends them. The routes stay: closing pages still send. */
  finish(): Promise<void>;
  /** Removes the routes. Can be called twice, and after the page is closed. */
  detach(): Promise<void>;
}

export interface BlockedRequest {
  readonly method: string;
  readonly url: string;
}

const abortReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connectionrefused",
  ECONNRESET: "connectionreset",
  EPIPE: "connectionreset",
  ETIMEDOUT: "timedout",
  ABORT_ERR: "aborted",
};

const reasonOf = (error: unknown): string =>
  (error instanceof Error && "code" in error && abortReasons[String(error.code)]) || "failed";

/** Ignores failures: the page may be closed, or its request aborted. */
const quietly = (done: Promise<unknown>): Promise<void> => done.then(() => {}).catch(() => {});

function targetAt(host: string, url: URL, rule: HostRule | undefined): URL {
  const path = url.pathname.slice(rule?.prefix.length ?? 0);
  return new URL(`${path.startsWith("/") ? path : `/${path}`}${url.search}`, host);
}

const disguised = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, disguisedHeader(value)]));

/** The port of `phx-sim start`, as its URL shows it. */
const simPort = "7490";

/**
 * Addresses by which an app is pointed at a sim: the default ones, and those of the environment. Another app than a
 * sim needs a path, because a host alone may be the app's own.
 */
function ownAddresses(env: NodeJS.ProcessEnv): string[] {
  const urls = Object.entries(env).flatMap(([name, value]) =>
    /(?:^|_)POSTHOG_HOST$|^PHX_SIM_URL$/.test(name) && value && URL.canParse(value) ? [new URL(value)] : [],
  );
  return [
    ...["127.0.0.1", "localhost"].map((host) => `${host}:${simPort}`),
    ...urls
      .filter((it) => /^https?:$/.test(it.protocol) && (it.pathname !== "/" || !isLoopbackHost(it.hostname)))
      .map((it) => it.host + it.pathname),
    ...(env.PHX_SIM_URL && URL.canParse(env.PHX_SIM_URL) ? [new URL(env.PHX_SIM_URL).host] : []),
  ];
}

interface Rerouting {
  tenant: Pick<Tenant, "host" | "projectId">;
  rules: readonly HostRule[];
  isDisguised: boolean;
  signal: AbortSignal;
}

type Recipient = Pick<Rerouting, "tenant" | "isDisguised">;

/** Sends the request to the sim for the project, independent of its key. */
const askSim = (request: ToForward, { tenant, isDisguised }: Recipient): Promise<Forwarded> =>
  forward({
    ...request,
    headers: {
      ...(isDisguised ? disguised({ ...request.headers }) : request.headers),
      "x-phx-project": String(tenant.projectId),
    },
  });

/** Answers for the project what no route has seen; what is blocked has no answer. */
export function answerUnrouted(
  tenant: Recipient["tenant"],
  { adBlocked, disguise: isDisguised = true }: AttachOptions,
): AnswerUnrouted {
  const isAdBlocked = adBlockTest(adBlocked);
  const { signal } = new AbortController();
  return async ({ url, ...request }) =>
    isAdBlocked(url)
      ? undefined
      : askSim({ ...request, url: targetAt(tenant.host, url, undefined), signal }, { tenant, isDisguised });
}

async function reroute(route: Route, rerouting: Rerouting): Promise<void> {
  const request = route.request();
  const url = new URL(request.url());
  const { tenant, rules, signal } = rerouting;
  const asked = askSim(
    {
      url: targetAt(tenant.host, url, hostRuleFor(rules, placeOf(url))),
      method: request.method(),
      headers: request.headers(),
      body: request.postDataBuffer(),
      signal,
    },
    rerouting,
  );
  const answer = await asked.catch(reasonOf);
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

const attached = new WeakSet<object>();

/** True if the request is of a page that is attached on its own: its context does not watch it. */
const isOfAnother = (target: AttachTarget, frame: Frame | undefined): boolean => {
  const page = frame?.page();
  return page !== undefined && page !== target && attached.has(page);
};

const serviceRules = serviceHosts.map(readHostRule);
const isService = (url: URL): boolean => hostRuleFor(serviceRules, placeOf(url)) !== undefined;

/** Browsers that find the stand-in where the service would be. */
export const withStandIn = new WeakSet<Browser>();

const hasStandIn = (target: AttachTarget): boolean => {
  const owner: { browser?(): Browser | null } = target.context?.() ?? target;
  const browser = owner.browser?.();
  return browser !== undefined && browser !== null && withStandIn.has(browser);
};

/** Requests that a route of `attach` has answered. */
const answered = new WeakSet<Request>();

const isAborted = (request: Request): boolean =>
  !request.existingResponse?.() && /ABORTED|cancell?ed/i.test(request.failure()?.errorText ?? "");

function escapeWatch(
  target: AttachTarget,
  { isKnown, isRouted }: Record<"isKnown" | "isRouted", (url: URL) => boolean>,
  allow: AttachOptions["allowEscapes"],
) {
  const escapes: Escape[] = [];
  const running = new Set<Request>();
  const allowed = (Array.isArray(allow) ? allow : allow === true ? ["*"] : []).map(readHostRule);
  return {
    escapes,
    look(request: Request): void {
      const url = URL.canParse(request.url()) ? new URL(request.url()) : undefined;
      if (url && isRouted(url)) running.add(request);
      if (!url || !/^https?:$/.test(url.protocol) || isKnown(url)) return;
      if (hostRuleFor(allowed, placeOf(url)) !== undefined) return;
      const sighted = { method: request.method(), url, body: () => request.postData() ?? "" };
      if (!looksLikeSdk(sighted)) return;
      add(request, url);
    },
    /** A known host that no route of the sim has answered. Redirects are not routed: the stand-in has answered. */
    lookAtEnd(request: Request): void {
      running.delete(request);
      const url = URL.canParse(request.url()) ? new URL(request.url()) : undefined;
      if (!url || !isRouted(url) || answered.has(request) || isAborted(request)) return;
      if (request.redirectedFrom() !== null && isService(url) && hasStandIn(target)) return;
      // the service worker's own request is checked
      if (request.existingResponse?.()?.fromServiceWorker()) return;
      add(request, url, "route");
    },
    /** Looks at requests with a response whose end is not reported: their page was closed. */
    lookAtRest(): void {
      for (const it of running) if (it.existingResponse?.()) this.lookAtEnd(it);
    },
  };

  function add(request: Request, url: URL, cause?: EscapeCause): void {
    const frame = frameOf(request);
    if (isOfAnother(target, frame)) return;
    const page = frame?.url() ?? "";
    escapes.push({ method: request.method(), url: maskKeys(url.href), page, ...(cause && { cause }) });
  }
}

/**
 * Blocks requests for the service of a context that no test has yet. The function that it returns ends it, and returns
 * what was blocked.
 */
export async function blockService(context: BrowserContext): Promise<() => Promise<Escape[]>> {
  const escapes: Escape[] = [];
  const handler = (route: Route): Promise<void> => {
    const request = route.request();
    answered.add(request);
    const page = frameOf(request)?.url() ?? "";
    escapes.push({ method: request.method(), url: maskKeys(request.url()), page, cause: "early" });
    return quietly(route.abort("blockedbyclient"));
  };
  await context.route(isService, handler);
  return async () => {
    await quietly(context.unroute(isService, handler));
    return escapes;
  };
}

/** Attachments of the fixture: one that a test makes itself replaces them. */
const ofFixture = new WeakMap<AttachTarget, Attachment>();

export async function attachForTest(...args: Parameters<typeof attach>): Promise<Attachment> {
  const attachment = await attach(...args);
  ofFixture.set(args[0], attachment);
  return attachment;
}

const optionKeys = keysOf<AttachOptions>({ ...{ hosts: true, allowEscapes: true, adBlocked: true, disguise: true } });

const patience = 1_000;

async function untilDone(pending: ReadonlySet<Promise<void>>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  await Promise.race([Promise.all(pending), late]);
  clearTimeout(timer);
}

/** `unrouteAll` removes the routes of the test; the sim's comes back. @returns ends it */
function followUnroute(target: AttachTarget, routeAgain: () => Promise<unknown>): () => void {
  if (!("unrouteAll" in target) || typeof target.unrouteAll !== "function") return () => {};
  const { unrouteAll } = target;
  target.unrouteAll = async (...args: unknown[]) => {
    await Reflect.apply(unrouteAll, target, args);
    await routeAgain();
  };
  return () => {
    target.unrouteAll = unrouteAll;
  };
}

/** Contexts that are offline: their routes are asked first. */
const offline = new WeakMap<object, boolean>();

/** Follows `setOffline` of the target's context. `newContext({ offline })` is noted by `noteOffline`. */
function offlineOf(target: AttachTarget): () => boolean {
  const context = target.context?.() ?? target;
  if (!offline.has(context)) offline.set(context, false);
  if ("setOffline" in context && typeof context.setOffline === "function" && !followed.has(context)) {
    followed.add(context);
    const { setOffline } = context;
    context.setOffline = async (value: boolean) => {
      offline.set(context, value);
      await Reflect.apply(setOffline, context, [value]);
    };
  }
  return () => offline.get(context) === true;
}

const followed = new WeakSet<object>();

export function noteOffline(context: object, options: unknown): void {
  offline.set(context, isObject(options) && options.offline === true);
}

/**
 * Answers the requests of a page (or of every page of a context) for PostHog from the sim, for the project: the app
 * keeps its host and its key. Attach before the page is opened; a context also covers popups and, in Chromium with
 * Playwright 1.57 or newer, service workers (elsewhere set `serviceWorkers: "block"`: their requests are not visible).
 * Requests to the sim itself, with any key, also become the project's.
 * @example const attachment = await attach(context, await sim.project());
 * @throws TypeError for an invalid host, an invalid rule or an unknown option
 */
export async function attach(
  target: AttachTarget,
  tenant: Pick<Tenant, "host" | "projectId">,
  options: AttachOptions = {},
): Promise<Attachment> {
  checkOptions("attach", { 2: optionKeys }, [target, tenant, options], attach);
  const own = [...ownAddresses(process.env), ...(options.hosts ?? [])];
  const rules = [...serviceRules, ...own.map(readHostRule)];
  const isAdBlocked = adBlockTest(options.adBlocked);
  const isKnown = (url: URL) =>
    url.origin === new URL(tenant.host).origin || hostRuleFor(rules, placeOf(url)) !== undefined || isAdBlocked(url);
  const mark = `${projectParameter}=${tenant.projectId}`;
  // what goes to the sim by itself; a route would not get the body of a beacon
  const isSent = ({ origin, search }: URL) => origin === new URL(tenant.host).origin && search.endsWith(mark);
  const isRouted = (url: URL) => isKnown(url) && !isSent(url);
  const watch = escapeWatch(target, { isKnown, isRouted }, options.allowEscapes);
  const ending = new AbortController();
  const isDisguised = options.disguise ?? true;
  const pending = new Set<Promise<void>>();
  const blocked: BlockedRequest[] = [];
  const isOffline = offlineOf(target);
  const handler = (route: Route): Promise<void> => {
    const request = route.request();
    answered.add(request);
    if (isOffline()) return quietly(route.abort("internetdisconnected"));
    if (isAdBlocked(new URL(request.url()))) {
      blocked.push({ method: request.method(), url: maskKeys(request.url()) });
      return quietly(route.abort("blockedbyclient"));
    }
    const done = reroute(route, { tenant, rules, isDisguised, signal: ending.signal });
    pending.add(done);
    return done.finally(() => pending.delete(done));
  };

  await ofFixture.get(target)?.detach();
  ofFixture.delete(target);
  attached.add(target);
  if (isDisguised) await target.addInitScript(disguise);
  const leaving = leavingScript({
    origin: new URL(tenant.host).origin,
    mark,
    rules,
    found: hasStandIn(target) ? serviceRules : [],
    blocked: adBlockSources(options.adBlocked),
  });
  await target.addInitScript({ content: leaving });
  const open = [...(target.pages?.().flatMap((it) => it.frames()) ?? []), ...(target.frames?.() ?? [])];
  await Promise.all(open.map((frame) => quietly(frame.evaluate(leaving))));
  await target.route(isRouted, handler);
  target.on("request", watch.look);
  target.on("requestfinished", watch.lookAtEnd);
  target.on("requestfailed", watch.lookAtEnd);
  const endFollowing = followUnroute(target, () => target.route(isRouted, handler));

  const detach = async () => {
    endFollowing();
    target.off("request", watch.look);
    target.off("requestfinished", watch.lookAtEnd);
    target.off("requestfailed", watch.lookAtEnd);
    attached.delete(target);
    ending.abort();
    await quietly(target.unroute(isRouted, handler));
  };
  return {
    blocked: () => blocked.slice(),
    escapes: () => watch.escapes.slice(),
    verify: () => verifyEscapes(watch.escapes),
    async finish() {
      await untilDone(pending);
      watch.lookAtRest();
      ending.abort();
    },
    detach,
    [Symbol.asyncDispose]: detach,
  };
}
