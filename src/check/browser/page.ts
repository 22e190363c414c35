import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { disguise, disguisedHeader, forward } from "../../egress/browser-traffic.ts";
import type { ConsoleLine, SdkRequest } from "../observations.ts";
import { isBadKey } from "../rules/keys.ts";
import type { Chromium, DevToolsEvent } from "./chromium.ts";
import { type ProbeNote, probe, probeBinding, type SdkState, stateExpression } from "./probe.ts";
import { keysIn, type OutgoingRequest, type Routing, sdkRequestOf, shownUrl } from "./sdk-request.ts";

/** How the requests of a page are answered. */
export interface PageRouting extends Routing {
  readonly projectId: number;
  /** True if requests to the app's own proxy go there: its server sends to the sim. */
  readonly isRerouted: boolean;
  /** Number of the current visit. */
  visit(): number;
}

/** What a page has shown since it was asked last. */
export interface PageNotes {
  readonly notes: ProbeNote[];
  readonly console: ConsoleLine[];
}

/** The document's answer. */
export interface Loaded {
  readonly status: number | null;
  readonly failure: string | null;
}

/** A page in a browser context of its own, whose requests to PostHog never leave this machine. */
export interface CheckPage {
  readonly requests: readonly SdkRequest[];
  load(url: string): Promise<Loaded>;
  /** The result of an expression, as JSON; undefined if the page cannot be asked. */
  evaluate(expression: string): Promise<Json | undefined>;
  /** Returns when no request has run for `quietMs`, at most after `mostMs`. */
  settle(quietMs?: number, mostMs?: number): Promise<void>;
  /** Number of documents and of changes of the address since the start. */
  moves(): { readonly loads: number; readonly history: number };
  state(): Promise<SdkState>;
  takeNotes(): PageNotes;
  close(): Promise<void>;
}

type Draft = { -readonly [Name in keyof SdkRequest]: SdkRequest[Name] };

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** The bytes of a paused request; null without a body. */
function bodyOf(request: JsonObject): Buffer | null {
  const entries = Array.isArray(request.postDataEntries) ? request.postDataEntries : [];
  const parts = entries.flatMap((it) =>
    isObject(it) && typeof it.bytes === "string" ? [Buffer.from(it.bytes, "base64")] : [],
  );
  if (parts.length > 0) return Buffer.concat(parts);
  return typeof request.postData === "string" ? Buffer.from(request.postData, "utf8") : null;
}

const headersOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, it]) => [name.toLowerCase(), disguisedHeader(String(it))]),
  );

const headerPairs = (headers: Readonly<Record<string, string>>): JsonObject[] =>
  Object.entries(headers).flatMap(([name, value]) => value.split("\n").map((it) => ({ name, value: it })));

const emptyState: SdkState = { instances: [], stub: false };

/** Resource types that may run for the whole life of a page. */
const endless = new Set(["WebSocket", "EventSource", "Ping", "Media", "Preflight"]);

const mostConsole = 200;

/** Opens a page. Its scripts see a browser that is not automated. */
export async function openPage(browser: Chromium, routing: PageRouting): Promise<CheckPage> {
  const { browserContextId } = await browser.send("Target.createBrowserContext");
  const { targetId } = await browser.send("Target.createTarget", {
    url: "about:blank",
    browserContextId: browserContextId ?? null,
  });
  const attached = await browser.send("Target.attachToTarget", { targetId: targetId ?? null, flatten: true });
  const page = text(attached.sessionId);
  const sessions = new Set([page]);
  const requests: Draft[] = [];
  /** By the browser's id; redirects have the same. */
  const hops = new Map<string, Draft[]>();
  const running = new Map<string, string>();
  const forwards = new Set<Promise<void>>();
  const ending = new AbortController();
  let notes: ProbeNote[] = [];
  let lines: ConsoleLine[] = [];
  let mainFrame = "";
  let document: { status: number | null; failure: string | null } = { status: null, failure: null };
  const counts = { loads: 0, history: 0 };
  let lastChange = performance.now();
  let onLoad = () => {};

  const send = (method: string, params: JsonObject = {}, session = page) =>
    browser.send(method, params, session);
  /** For answers to what may be gone. */
  const quietly = (done: Promise<unknown>): Promise<void> => done.then(() => {}).catch(() => {});
  const say = (level: ConsoleLine["level"], line: string) => {
    if (lines.length < mostConsole) lines.push({ level, text: line.slice(0, 1_000) });
  };

  function draftOf(request: OutgoingRequest): Draft | undefined {
    const found = sdkRequestOf(request, routing);
    if (!found) return undefined;
    const { place } = found;
    const byUs = place !== "proxy" || !routing.isRerouted;
    const keys = keysIn(request);
    const unknown = { status: null, contentType: null, location: null, failure: null };
    return { visit: routing.visit(), method: request.method, ...found, byUs, keys, ...unknown };
  }

  /** The header that gives a request to our project; a bad key must stay bad. */
  const projectHeader = ({ keys }: Draft): Record<string, string> =>
    keys.some(isBadKey) ? {} : { "x-phx-project": String(routing.projectId) };

  async function answer(
    paused: JsonObject,
    request: OutgoingRequest,
    draft: Draft,
    session: string,
  ): Promise<void> {
    const { requestId } = paused;
    const isPreflight = request.method === "OPTIONS";
    const headers = { ...headersOf(objectOf(paused.request).headers), ...projectHeader(draft) };
    const path = draft.place === "service" ? request.url.pathname : request.url.pathname.slice(ours(draft));
    const url = new URL(`${path}${request.url.search}`, routing.sim);
    try {
      const reply = await forward({
        url,
        method: request.method,
        headers,
        body: request.body,
        signal: ending.signal,
      });
      if (!isPreflight) {
        draft.status = reply.status;
        draft.contentType = reply.headers["content-type"] ?? null;
      }
      await send(
        "Fetch.fulfillRequest",
        {
          requestId: requestId ?? null,
          responseCode: reply.status,
          responseHeaders: headerPairs(reply.headers),
          body: reply.body.toString("base64"),
        },
        session,
      );
    } catch (error) {
      draft.failure = error instanceof Error ? error.message : String(error);
      await quietly(
        send(
          "Fetch.failRequest",
          { requestId: requestId ?? null, errorReason: "ConnectionRefused" },
          session,
        ),
      );
    }
  }

  /** Length of the prefix that the sim's paths do not have. */
  const ours = ({ place, prefix }: Draft): number =>
    place === "proxy" || place === "elsewhere" ? prefix.length : 0;

  function onPaused(params: JsonObject, session: string): void {
    const request = objectOf(params.request);
    const url = URL.canParse(text(request.url)) ? new URL(text(request.url)) : undefined;
    const { requestId } = params;
    const proceed = (more: JsonObject = {}) =>
      void quietly(send("Fetch.continueRequest", { requestId: requestId ?? null, ...more }, session));
    if (!url || !/^https?:$/.test(url.protocol)) return proceed();
    const outgoing = { method: text(request.method), url, body: bodyOf(request) };
    const draft = draftOf(outgoing);
    if (!draft) return proceed();
    lastChange = performance.now();
    const isPreflight = outgoing.method === "OPTIONS";
    if (!isPreflight) {
      requests.push(draft);
      const id = text(params.networkId);
      hops.set(id, [...(hops.get(id) ?? []), draft]);
    }
    if (!draft.byUs) {
      const headers = { ...headersOf(request.headers), ...(isPreflight ? {} : projectHeader(draft)) };
      return proceed({ headers: headerPairs(headers) });
    }
    const done = answer(params, outgoing, draft, session).finally(() => {
      forwards.delete(done);
      lastChange = performance.now();
    });
    forwards.add(done);
  }

  function onResponse(id: string, response: JsonObject, isRedirect: boolean): void {
    const url = shownUrl(text(response.url));
    const draft = hops.get(id)?.find((it) => it.url === url);
    if (!draft || draft.byUs) return;
    const headers = headersOf(response.headers);
    draft.status = Number(response.status);
    draft.contentType = headers["content-type"] ?? null;
    draft.location = isRedirect ? (headers.location ?? null) : null;
  }

  const handlers: Readonly<Record<string, (params: JsonObject, session: string) => void>> = {
    "Fetch.requestPaused": onPaused,
    "Network.requestWillBeSent": (params) => {
      const id = text(params.requestId);
      if (isObject(params.redirectResponse)) onResponse(id, params.redirectResponse, true);
      if (!endless.has(text(params.type))) running.set(id, text(params.type));
      lastChange = performance.now();
    },
    "Network.responseReceived": (params) => {
      const response = objectOf(params.response);
      onResponse(text(params.requestId), response, false);
      if (params.type === "Document" && params.frameId === mainFrame)
        document = { status: Number(response.status), failure: null };
    },
    "Network.loadingFinished": (params) => {
      running.delete(text(params.requestId));
      lastChange = performance.now();
    },
    "Network.loadingFailed": (params) => {
      running.delete(text(params.requestId));
      const draft = hops.get(text(params.requestId))?.at(-1);
      if (draft && params.canceled !== true) draft.failure ??= text(params.errorText);
      lastChange = performance.now();
    },
    "Page.frameNavigated": (params) => {
      const frame = objectOf(params.frame);
      if (frame.parentId === undefined) {
        mainFrame = text(frame.id);
        counts.loads += 1;
      }
    },
    "Page.navigatedWithinDocument": (params) => {
      if (params.frameId === mainFrame) counts.history += 1;
      lastChange = performance.now();
    },
    "Page.loadEventFired": () => onLoad(),
    "Page.javascriptDialogOpening": () => void quietly(send("Page.handleJavaScriptDialog", { accept: true })),
    "Runtime.bindingCalled": (params) => {
      if (params.name === probeBinding) notes.push(JSON.parse(text(params.payload)));
    },
    "Runtime.consoleAPICalled": ({ type, args }) => {
      if (type !== "error" && type !== "warning") return;
      const words = (Array.isArray(args) ? args : []).map((it) =>
        isObject(it) ? String(it.value ?? it.description ?? "") : "",
      );
      say(type, words.join(" "));
    },
    "Runtime.exceptionThrown": (params) => {
      const details = objectOf(params.exceptionDetails);
      say("error", text(objectOf(details.exception).description) || text(details.text));
    },
    "Log.entryAdded": (params) => {
      const { level, text: line, url } = objectOf(params.entry);
      if (level === "error") say("error", `${text(line)} ${text(url)}`.trim());
    },
    "Target.attachedToTarget": (params) => {
      const session = text(params.sessionId);
      sessions.add(session);
      void quietly(prepareChild(session));
    },
  };

  const interception = { patterns: [{ urlPattern: "*" }] };

  /** Frames of other sites and workers: their requests are answered in the same way. */
  async function prepareChild(session: string): Promise<void> {
    await quietly(send("Fetch.enable", interception, session));
    await quietly(send("Network.enable", {}, session));
    await quietly(send("Runtime.runIfWaitingForDebugger", {}, session));
  }

  const stop = browser.listen(({ method, params, sessionId }: DevToolsEvent) => {
    if (sessionId !== undefined && sessions.has(sessionId)) handlers[method]?.(params, sessionId);
  });

  const { userAgent } = await browser.send("Browser.getVersion");
  await Promise.all([
    send("Page.enable"),
    send("Runtime.enable"),
    send("Log.enable"),
    send("Network.enable"),
    send("Network.setCacheDisabled", { cacheDisabled: true }),
    send("Fetch.enable", interception),
    send("Network.setUserAgentOverride", { userAgent: disguisedHeader(text(userAgent)) }),
    send("Runtime.addBinding", { name: probeBinding }),
    send("Page.addScriptToEvaluateOnNewDocument", {
      source: `(${disguise})();(${probe})(${JSON.stringify(probeBinding)});`,
    }),
    send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
  ]);
  const tree = objectOf((await send("Page.getFrameTree")).frameTree);
  mainFrame = text(objectOf(tree.frame).id);

  async function evaluate(expression: string): Promise<Json | undefined> {
    const answer = await send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    }).catch(() => ({}) as JsonObject);
    return objectOf(answer.result).value;
  }

  const isQuiet = (quietMs: number) =>
    running.size === 0 && forwards.size === 0 && performance.now() - lastChange >= quietMs;

  return {
    requests,
    evaluate,
    async load(url) {
      document = { status: null, failure: null };
      const loaded = new Promise<void>((resolve) => {
        onLoad = resolve;
      });
      const late = new Promise<void>((resolve) => void setTimeout(resolve, mostLoadMs).unref());
      running.clear();
      const { errorText } = await send("Page.navigate", { url });
      if (typeof errorText === "string") return { status: null, failure: errorText };
      await Promise.race([loaded, late]);
      return document;
    },
    async settle(quietMs = 500, mostMs = 8_000) {
      const end = performance.now() + mostMs;
      lastChange = performance.now();
      // An app that polls is never quiet; the SDK's own requests are waited for.
      const last = end + 2 * mostMs;
      const isDone = () => isQuiet(quietMs) || (performance.now() > end && forwards.size === 0);
      while (!isDone() && performance.now() < last) await new Promise((resolve) => setTimeout(resolve, 25));
    },
    moves: () => ({ ...counts }),
    async state() {
      const value = await evaluate(stateExpression);
      return isObject(value) ? (value as unknown as SdkState) : emptyState;
    },
    takeNotes() {
      const taken = { notes, console: lines };
      notes = [];
      lines = [];
      return taken;
    },
    async close() {
      await Promise.all(forwards);
      ending.abort();
      stop();
      await quietly(
        browser.send("Target.disposeBrowserContext", { browserContextId: browserContextId ?? null }),
      );
    },
  };
}

/** The longest wait for a document, ms. */
const mostLoadMs = 30_000;
