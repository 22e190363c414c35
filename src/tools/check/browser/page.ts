import { isObject, type Json, type JsonObject, textOf } from "../../../kernel/base/json.ts";
import { disguise, disguisedHeader } from "../../../lab/egress/browser-traffic.ts";
import type { ConsoleLine, SdkRequest } from "../observations.ts";
import type { Chromium } from "./chromium.ts";
import { objectOf, type PageRouting, quietly, SdkTraffic } from "./interception.ts";
import { type ProbeNote, probe, probeBinding, type SdkState, stateExpression } from "./probe.ts";

/** What a page has shown since it was asked last. */
interface PageNotes {
  readonly notes: ProbeNote[];
  readonly console: ConsoleLine[];
}

export interface DocumentAnswer {
  readonly status: number | null;
  readonly failure: string | null;
}

const emptyState: SdkState = { instances: [], stub: false };

/** Resource types that may run for the whole life of a page. */
const endless = new Set(["WebSocket", "EventSource", "Ping", "Media", "Preflight"]);

const mostConsole = 200;

/** The longest wait for a document, ms. */
const mostLoadMs = 30_000;

const interception = { patterns: [{ urlPattern: "*" }] };

/** A page in a browser context of its own, whose requests to PostHog never leave this machine. */
export class CheckPage {
  readonly #browser: Chromium;
  readonly #context: string;
  readonly #session: string;
  /** Of the page, of frames of other sites and of workers. */
  readonly #sessions = new Set<string>();
  readonly #traffic: SdkTraffic;
  readonly #running = new Set<string>();
  readonly #stop: () => void;
  readonly #moves = { loads: 0, history: 0 };
  #notes: ProbeNote[] = [];
  #console: ConsoleLine[] = [];
  #mainFrame = "";
  #document: DocumentAnswer = { status: null, failure: null };
  #lastChange = performance.now();
  #onLoad = () => {};

  private constructor(browser: Chromium, context: string, session: string, routing: PageRouting) {
    this.#browser = browser;
    this.#context = context;
    this.#session = session;
    this.#sessions.add(session);
    this.#traffic = new SdkTraffic((method, params, of) => this.#send(method, params, of), routing, this.#changed);
    this.#stop = browser.listen(({ method, params, sessionId }) => {
      if (sessionId !== undefined && this.#sessions.has(sessionId)) this.#handlers[method]?.(params, sessionId);
    });
  }

  /** Opens an empty page. Its scripts will see a browser that is not automated. */
  static async open(browser: Chromium, routing: PageRouting): Promise<CheckPage> {
    const { browserContextId = null } = await browser.send("Target.createBrowserContext");
    const target = { url: "about:blank", browserContextId };
    const { targetId = null } = await browser.send("Target.createTarget", target);
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new CheckPage(browser, textOf(browserContextId), textOf(sessionId), routing);
    await page.#prepare();
    return page;
  }

  get requests(): readonly SdkRequest[] {
    return this.#traffic.requests;
  }

  /** Number of documents and of changes of the address since the start. */
  get moves(): { readonly loads: number; readonly history: number } {
    return { ...this.#moves };
  }

  get document(): DocumentAnswer {
    return this.#document;
  }

  async load(url: string): Promise<DocumentAnswer> {
    this.#document = { status: null, failure: null };
    let timer: NodeJS.Timeout | undefined;
    const loaded = new Promise<void>((resolve) => {
      this.#onLoad = resolve;
      timer = setTimeout(resolve, mostLoadMs);
    });
    this.#running.clear();
    try {
      const { errorText } = await this.#send("Page.navigate", { url });
      if (typeof errorText === "string") return { status: null, failure: errorText };
      await loaded;
      return this.#document;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The result of an expression, as JSON; undefined if the page cannot be asked. */
  async evaluate(expression: string): Promise<Json | undefined> {
    const question = { expression, returnByValue: true, awaitPromise: true };
    const answer = await this.#send("Runtime.evaluate", question).catch((): JsonObject => ({}));
    return objectOf(answer.result).value;
  }

  /**
   * Returns when no request has run for `quietMs`. After `mostMs` it waits for the SDK's own requests only: an app that
   * polls is never quiet.
   */
  async settle(quietMs = 500, mostMs = 8_000): Promise<void> {
    const start = performance.now();
    this.#changed();
    for (;;) {
      const now = performance.now();
      const isIdle = this.#running.size === 0 && this.#traffic.isIdle;
      if (isIdle && now - this.#lastChange >= quietMs) return;
      if (now - start > mostMs && (this.#traffic.isIdle || now - start > 3 * mostMs)) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async state(): Promise<SdkState> {
    const value = await this.evaluate(stateExpression);
    return isObject(value) ? (value as unknown as SdkState) : emptyState;
  }

  takeNotes(): PageNotes {
    const taken = { notes: this.#notes, console: this.#console };
    this.#notes = [];
    this.#console = [];
    return taken;
  }

  async close(): Promise<void> {
    await this.#traffic.finish();
    this.#stop();
    await quietly(this.#browser.send("Target.disposeBrowserContext", { browserContextId: this.#context }));
  }

  #send(method: string, params: JsonObject = {}, session = this.#session): Promise<JsonObject> {
    return this.#browser.send(method, params, session);
  }

  #changed = (): void => {
    this.#lastChange = performance.now();
  };

  async #prepare(): Promise<void> {
    const { userAgent } = await this.#browser.send("Browser.getVersion");
    const source = `(${disguise})();(${probe})(${JSON.stringify(probeBinding)});`;
    await Promise.all([
      this.#send("Page.enable"),
      this.#send("Runtime.enable"),
      this.#send("Log.enable"),
      this.#send("Network.enable"),
      this.#send("Network.setCacheDisabled", { cacheDisabled: true }),
      this.#send("Network.setBypassServiceWorker", { bypass: true }),
      this.#send("Security.setIgnoreCertificateErrors", { ignore: true }),
      this.#send("Fetch.enable", interception),
      this.#send("Network.setUserAgentOverride", { userAgent: disguisedHeader(textOf(userAgent)) }),
      this.#send("Runtime.addBinding", { name: probeBinding }),
      this.#send("Page.addScriptToEvaluateOnNewDocument", { source }),
      this.#send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ]);
    const { frameTree } = await this.#send("Page.getFrameTree");
    this.#mainFrame = textOf(objectOf(objectOf(frameTree).frame).id);
  }

  /** Frames of other sites and workers: their requests are answered in the same way. */
  async #prepareChild(session: string): Promise<void> {
    this.#sessions.add(session);
    await quietly(this.#send("Fetch.enable", interception, session));
    await quietly(this.#send("Network.enable", {}, session));
    await quietly(this.#send("Runtime.runIfWaitingForDebugger", {}, session));
  }

  #say(level: ConsoleLine["level"], text: string): void {
    if (this.#console.length < mostConsole) this.#console.push({ level, text: text.slice(0, 1_000) });
  }

  readonly #handlers: Readonly<Record<string, (params: JsonObject, session: string) => void>> = {
    "Fetch.requestPaused": (params, session) => this.#traffic.onPaused(params, session),
    "Network.requestWillBeSent": ({ requestId, type, redirectResponse }) => {
      if (isObject(redirectResponse)) this.#traffic.onResponse(textOf(requestId), redirectResponse, true);
      if (!endless.has(textOf(type))) this.#running.add(textOf(requestId));
      this.#changed();
    },
    "Network.responseReceived": ({ requestId, response, type, frameId }) => {
      this.#traffic.onResponse(textOf(requestId), objectOf(response), false);
      if (type === "Document" && frameId === this.#mainFrame)
        this.#document = { status: Number(objectOf(response).status), failure: null };
    },
    "Network.loadingFinished": ({ requestId }) => {
      this.#running.delete(textOf(requestId));
      this.#changed();
    },
    "Network.loadingFailed": ({ requestId, canceled, errorText }) => {
      this.#running.delete(textOf(requestId));
      if (canceled !== true) this.#traffic.onFailed(textOf(requestId), textOf(errorText));
      this.#changed();
    },
    "Page.frameNavigated": ({ frame }) => {
      const { parentId, id } = objectOf(frame);
      if (parentId !== undefined) return;
      this.#mainFrame = textOf(id);
      this.#moves.loads += 1;
    },
    "Page.navigatedWithinDocument": ({ frameId }) => {
      if (frameId === this.#mainFrame) this.#moves.history += 1;
      this.#changed();
    },
    "Page.loadEventFired": () => this.#onLoad(),
    "Page.javascriptDialogOpening": () => void quietly(this.#send("Page.handleJavaScriptDialog", { accept: true })),
    "Runtime.bindingCalled": ({ name, payload }) => {
      if (name === probeBinding) this.#notes.push(JSON.parse(textOf(payload)));
    },
    "Runtime.consoleAPICalled": ({ type, args }) => {
      if (type !== "error" && type !== "warning") return;
      const words = (Array.isArray(args) ? args : []).map((it) =>
        isObject(it) ? String(it.value ?? it.description ?? "") : "",
      );
      this.#say(type, words.join(" "));
    },
    "Runtime.exceptionThrown": ({ exceptionDetails }) => {
      const { exception, text } = objectOf(exceptionDetails);
      this.#say("error", textOf(objectOf(exception).description) || textOf(text));
    },
    "Log.entryAdded": ({ entry }) => {
      const { level, text, url } = objectOf(entry);
      if (level === "error") this.#say("error", `${textOf(text)} ${textOf(url)}`.trim());
    },
    "Target.attachedToTarget": ({ sessionId }) => void this.#prepareChild(textOf(sessionId)),
  };
}
