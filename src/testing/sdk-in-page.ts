import type { KnownCauses } from "../lab/assert/match/causes.ts";
import { printable } from "../lab/assert/match/printable.ts";

export interface SdkInPage {
  readonly page: string;
  /** `stub`: the snippet waits for its script; `stored`: only its data is visible. */
  readonly state: "none" | "stub" | "stored" | "loaded";
  readonly version: string;
  readonly key: string;
  readonly host: string;
  readonly hasOptedOut: boolean;
}

export interface PageSdk {
  readonly __loaded?: unknown;
  readonly _i?: readonly (readonly [key: unknown, config?: { readonly api_host?: unknown }])[];
  readonly version?: unknown;
  readonly config?: { readonly token?: unknown; readonly api_host?: unknown };
  has_opted_out_capturing?(): unknown;
}

interface PageScope {
  readonly posthog?: PageSdk;
  readonly location?: { readonly href: string };
  readonly localStorage?: Readonly<Record<string, string>>;
  readonly document?: { readonly cookie: string };
}

/**
 * Reads posthog-js in a page, or in a DOM of this process. The function must not refer to anything outside of itself.
 * @param given The SDK, if the page does not have it as `window.posthog`
 */
export function readSdk(given?: PageSdk): SdkInPage {
  const scope = globalThis as unknown as PageScope;
  const sdk = given ?? scope.posthog;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const stored: [name: string, value: string][] = [];
  try {
    stored.push(...Object.entries(scope.localStorage ?? {}));
  } catch {
    // a page without an origin has no storage
  }
  try {
    for (const cookie of scope.document?.cookie.split("; ") ?? []) {
      const [name = "", value = ""] = cookie.split("=");
      stored.push([name, value]);
    }
  } catch {
    // the same
  }
  const keys = stored.flatMap(([name]) => /^ph_(.+)_posthog$/.exec(name)?.[1] ?? []);
  const out = stored.some(([name, value]) => name.startsWith("__ph_opt_in_out_") && value === "0");
  const page = text(scope.location?.href);
  const isLoaded = sdk?.__loaded === true;
  const [call] = sdk?._i ?? [];
  if (sdk && isLoaded)
    return {
      page,
      state: "loaded",
      version: text(sdk.version),
      key: text(sdk.config?.token),
      host: text(sdk.config?.api_host),
      hasOptedOut: sdk.has_opted_out_capturing?.() === true,
    };
  return {
    page,
    state: call ? "stub" : keys.length > 0 ? "stored" : "none",
    version: "",
    key: text(call?.[0] ?? keys[0]),
    host: text(call?.[1]?.api_host),
    hasOptedOut: out,
  };
}

interface ClockScope {
  readonly __pwClock?: { readonly builtins: { readonly setTimeout: (run: () => void, ms: number) => unknown } };
}

/**
 * True in a page whose time `page.clock` has stopped: a timer that is due does not fire. The function must not refer to
 * anything outside of itself.
 */
export function isTimeStopped(): Promise<boolean> {
  const { __pwClock: clock } = globalThis as ClockScope;
  return new Promise((resolve) => {
    if (!clock) return resolve(false);
    globalThis.setTimeout(() => resolve(false), 0);
    clock.builtins.setTimeout(() => resolve(true), 100);
  });
}

export const stoppedTime =
  "page.clock has stopped the time of the page: posthog-js sends its queue, and tries again, only when the test moves the time (page.clock.runFor(), page.clock.resume())";

const shown = (text: string): string => printable(text, 80);

const settingsOf = ({ key, host }: SdkInPage): string =>
  `the key ${key === "" ? "(none)" : shown(key)}${host === "" ? "" : ` and the host ${shown(host)}`}`;

const sentences: { readonly [State in SdkInPage["state"]]: (sdk: SdkInPage) => string } = {
  loaded: (sdk) =>
    `posthog-js ${shown(sdk.version)} is initialised in ${shown(sdk.page)} with ${settingsOf(sdk)}, and has sent nothing`,
  stub: (sdk) =>
    `the snippet in ${shown(sdk.page)} has called posthog.init() with ${settingsOf(sdk)}, but its script has not been loaded`,
  stored: (sdk) =>
    `posthog-js has stored data in ${shown(sdk.page)} for ${settingsOf(sdk)}; window.posthog is not set, so that its host is not known`,
  none: ({ page }) =>
    page === "" || page === "about:blank"
      ? "the page is empty: no address was opened in it"
      : `posthog-js was not initialised in ${shown(page)}: there is no window.posthog that is loaded, and nothing is stored`,
};

const optedOut = (sdk: SdkInPage): string =>
  `posthog-js in ${shown(sdk.page)} has opted out of capturing (opt_out_capturing(), or opt_out_capturing_by_default), for ${settingsOf(sdk)}: it drops every event`;

const mostNamed = 3;

export function causesInPages(sdks: readonly SdkInPage[]): Partial<KnownCauses> {
  const present = sdks.filter(({ state, hasOptedOut }) => state !== "none" || hasOptedOut);
  const isOut = present.length > 0 && present.every(({ hasOptedOut }) => hasOptedOut);
  if (isOut) return { certain: present.slice(0, mostNamed).map(optedOut) };
  const texts = (of: readonly SdkInPage[]) => of.slice(0, mostNamed).map((it) => sentences[it.state](it));
  return present.length > 0 ? { sdk: texts(present) } : { absent: texts(sdks) };
}
