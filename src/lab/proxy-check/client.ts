import type { HandleScope } from "../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import type { ProxyFramework } from "./frameworks.ts";
import type { ProxyReport } from "./shapes.ts";

export type { ProxyReport };

export interface ProxyCheckOptions {
  /** Origin of the app's pages, if it is not the proxy's: then a missing permission (CORS) is a problem. */
  origin?: string;
  /** What the proxy is made with, if its answers do not show it. */
  framework?: ProxyFramework;
  /** Longest time for each answer, ms; six times as long for the first, as development servers compile then. Default 5,000. */
  timeoutMs?: number;
}

/** Reverse proxies of the app. */
export interface Proxies {
  /**
   * Sends what SDKs send through a reverse proxy whose upstream is this sim, and compares what arrives: requests, bytes,
   * answers. Nothing of it is kept. @throws ControlError for an address that cannot be checked
   */
  check(url: string, options?: ProxyCheckOptions): Promise<ProxyReport>;
}

export const proxiesBy = ({ call }: HandleScope): Proxies =>
  withOptions({
    check: (through, { origin, framework, timeoutMs } = {}) =>
      call("POST", "proxies/check", { through, origin, framework, timeout_ms: timeoutMs }),
  });

const withOptions = knownOptions<Proxies>("proxies", {
  check: { 1: keysOf<ProxyCheckOptions>({ origin: true, framework: true, timeoutMs: true }) },
});
