import { createRequire } from "node:module";
import type { KnownCauses } from "../lab/assert/match/causes.ts";
import { causesInPages, type PageSdk, readSdk } from "./sdk-in-page.ts";

/** Packages with an SDK that a test's process can load. */
export const sdkNames = ["posthog-node", "posthog-js", "posthog-js-lite", "posthog-react-native"] as const;

export const isSdkName = (name: string): boolean => sdkNames.some((it) => it === name);

/** The runner's name is a separate argument: vitest rewrites the modules whose text calls `vi.mock`, and breaks their exports. */
export const mockText = (runner: "vi" | "jest", name: string): string =>
  `${runner}.mock("${name}") is in force: what replaces the SDK sends nothing; remove it, the sim answers in its place`;

/** True if it is like posthog-js's instance, which a process has once. */
const isBrowserSdk = (value: unknown): value is PageSdk =>
  typeof value === "object" && value !== null && "__loaded" in value;

/** posthog-js as the test's file loads it; undefined if nothing has loaded it. */
function loadedSdk(file: string): PageSdk | undefined {
  const require = createRequire(file);
  const loaded: unknown = require.cache[require.resolve("posthog-js")]?.exports;
  const values = typeof loaded === "object" && loaded !== null ? Object.values(loaded) : [];
  return values.find(isBrowserSdk);
}

/** What posthog-js in a DOM of this process says about missing events. */
export function causesInProcess(file: string): Partial<KnownCauses> {
  if (!("document" in globalThis)) return {};
  let sdk: PageSdk | undefined;
  try {
    sdk = loadedSdk(file);
  } catch {
    // it is not installed where the test is
  }
  const found = readSdk(sdk);
  // another SDK may be in use
  return found.state === "none" && !found.hasOptedOut ? {} : causesInPages([found]);
}
