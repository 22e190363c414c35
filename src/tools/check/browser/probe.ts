/** What the probe reports while a page runs. */
export type ProbeNote =
  | {
      readonly kind: "call";
      /** `capture`, `identify`, `reset`, `init` … */
      readonly name: string;
      /** Its first argument, if it is a string. */
      readonly argument: string | null;
      /** True if the SDK was initialized before the call. */
      readonly loaded: boolean;
      /** False if the call returned nothing: of `capture`, the SDK dropped the event. */
      readonly returned: boolean;
      /** True if flags were loaded. */
      readonly flags: boolean;
    }
  | { readonly kind: "csp"; readonly uri: string; readonly directive: string };

/** An instance of posthog-js in a page. */
export interface SdkInstance {
  readonly version: string | null;
  readonly loaded: boolean;
  /** Number of the SDK's copy: two copies have different classes. */
  readonly copy: number;
  readonly optedOut: boolean;
  readonly recording: boolean;
  readonly distinctId: string | null;
  readonly config: {
    readonly token: string | null;
    readonly uiHost: string | null;
    readonly persistence: string | null;
    readonly optOutByDefault: boolean;
    readonly ignoresBots: boolean;
    readonly blockedAgents: readonly string[];
    readonly beforeSend: boolean;
    readonly recordingDisabled: boolean;
    readonly cookieless: string | null;
  };
}

/** The SDK in a page, once the page is quiet. */
export interface SdkState {
  readonly instances: readonly SdkInstance[];
  /** True if the snippet's stub waits for the SDK's script. */
  readonly stub: boolean;
}

/** The name of the function that the probe reports to; it removes it before the page's scripts run. */
export const probeBinding = "__phxSimCheckNote";

/** An expression that makes the SDK send what it holds back, as at the end of a page. */
export const flushExpression = `for (const name of ["beforeunload", "pagehide"]) globalThis.dispatchEvent(new Event(name))`;

type Sdk = Record<string, unknown>;

/**
 * Runs in each document before its scripts. Each instance of posthog-js, also one in a bundle, sets its `__loaded`: a
 * setter on all objects finds it, and then notes the calls of its methods. The function must not refer to anything
 * outside of itself.
 */
export function probe(binding: string): void {
  type Method = (this: Sdk, ...args: unknown[]) => unknown;
  interface PageWindow {
    top?: unknown;
    document?: { addEventListener(name: string, listener: (event: Record<string, unknown>) => void): void };
    [name: string | symbol]: unknown;
  }
  const page = globalThis as unknown as PageWindow;
  const send = page[binding] as ((text: string) => void) | undefined;
  delete page[binding];
  if (send === undefined || page.top !== page) return;

  const mostNotes = 500;
  let notes = 0;
  const report = (note: Record<string, unknown>) => {
    notes += 1;
    if (notes <= mostNotes) send(JSON.stringify(note));
  };
  const text = (value: unknown) => (typeof value === "string" ? value.slice(0, 200) : null);

  const instances: Sdk[] = [];
  const classes: object[] = [];
  const withFlags = new WeakSet<object>();

  const note = (sdk: Sdk, name: string, args: unknown[], loaded: boolean, result: unknown) => {
    if (name === "capture" && args[0] === "$snapshot") return;
    // A named instance is another one.
    if (name === "init" && typeof args[2] === "string" && args[2] !== "posthog" && loaded) return;
    const argument = typeof args[0] === "number" ? String(args[0]) : text(args[0]);
    const returned = result !== undefined && result !== null;
    report({ kind: "call", name, argument, loaded, returned, flags: withFlags.has(sdk) });
  };

  const watched = "init capture identify reset opt_in_capturing getFeatureFlag isFeatureEnabled".split(" ");
  const watchClass = (type: Sdk) => {
    for (const name of watched) {
      const original = type[name];
      if (typeof original !== "function") continue;
      const wrapped: Method = function (...args) {
        const loaded = this.__loaded === true;
        const result: unknown = Reflect.apply(original, this, args);
        note(this, name, args, loaded, result);
        const { onFeatureFlags } = this;
        if (name === "init" && !loaded && this.__loaded === true && typeof onFeatureFlags === "function")
          Reflect.apply(onFeatureFlags, this, [() => void withFlags.add(this)]);
        return result;
      };
      type[name] = wrapped;
    }
  };

  Object.defineProperty(Object.prototype, "__loaded", {
    configurable: true,
    get: () => undefined,
    set(this: Sdk, value: unknown) {
      Object.defineProperty(this, "__loaded", { value, writable: true, enumerable: true, configurable: true });
      if (typeof this.capture !== "function" || typeof this.identify !== "function" || Array.isArray(this)) return;
      instances.push(this);
      const type: unknown = Object.getPrototypeOf(this);
      if (typeof type !== "object" || type === null || classes.includes(type)) return;
      classes.push(type);
      watchClass(type as Sdk);
    },
  });

  page.document?.addEventListener("securitypolicyviolation", (event) =>
    report({ kind: "csp", uri: text(event.blockedURI) ?? "", directive: text(event.effectiveDirective) ?? "" }),
  );

  Object.defineProperty(page, Symbol.for("phx-sim.check"), { value: { instances, classes } });
}

/** Runs in a page that the probe watches. The function must not refer to anything outside of itself. */
function readState(): SdkState | undefined {
  const page = globalThis as unknown as { posthog?: Sdk; [name: symbol]: { instances: Sdk[]; classes: object[] } };
  const watched = page[Symbol.for("phx-sim.check")];
  const text = (value: unknown) => (typeof value === "string" ? value.slice(0, 200) : null);
  const answerOf = (sdk: Sdk, name: string): unknown => {
    try {
      const method = sdk[name];
      return typeof method === "function" ? Reflect.apply(method, sdk, []) : undefined;
    } catch {
      return undefined;
    }
  };
  const stateOf = (sdk: Sdk): SdkInstance => {
    const config = (sdk.config ?? {}) as Sdk;
    const agents = config.custom_blocked_useragents;
    return {
      version: text(sdk.version) ?? text(sdk.LIB_VERSION),
      loaded: sdk.__loaded === true,
      copy: watched?.classes.indexOf(Object.getPrototypeOf(sdk)) ?? -1,
      optedOut: answerOf(sdk, "has_opted_out_capturing") === true,
      recording: answerOf(sdk, "sessionRecordingStarted") === true,
      distinctId: sdk.__loaded === true ? text(answerOf(sdk, "get_distinct_id")) : null,
      config: {
        token: text(config.token),
        uiHost: text(config.ui_host),
        persistence: config.disable_persistence === true ? "none" : text(config.persistence),
        optOutByDefault: config.opt_out_capturing_by_default === true,
        ignoresBots: config.opt_out_useragent_filter === true,
        blockedAgents: Array.isArray(agents) ? agents.map((it) => String(it).slice(0, 80)) : [],
        beforeSend: config.before_send !== undefined && config.before_send !== null,
        recordingDisabled: config.disable_session_recording === true,
        cookieless: text(config.cookieless_mode),
      },
    };
  };
  const stub = page.posthog?.__SV !== undefined && page.posthog.__loaded !== true;
  return watched && { instances: watched.instances.map(stateOf), stub };
}

export const stateExpression = `(${readState})()`;
