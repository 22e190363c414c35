import { createRequire } from "node:module";
import type { KnownCauses } from "../lab/assert/match/causes.ts";
import { causesInPages, type PageSdk, readSdk } from "./sdk-in-page.ts";

export const sdkNames = ["posthog-node", "posthog-js", "posthog-js-lite", "posthog-react-native"] as const;

export const isSdkName = (name: string): boolean => sdkNames.some((it) => it === name);

/** The runner's name is a separate argument: vitest rewrites the modules whose text calls `vi.mock`, and breaks their exports. */
export const mockText = (runner: "vi" | "jest", name: string): string =>
  `${runner}.mock("${name}") is in force: what replaces the SDK sends nothing; remove it, the sim answers in its place`;

const isBrowserSdk = (value: unknown): value is PageSdk =>
  typeof value === "object" && value !== null && "__loaded" in value;

function loadedSdk(file: string): PageSdk | undefined {
  const require = createRequire(file);
  const loaded: unknown = require.cache[require.resolve("posthog-js")]?.exports;
  const values = typeof loaded === "object" && loaded !== null ? Object.values(loaded) : [];
  return values.find(isBrowserSdk);
}

/**
 * What this process knows about missing events: blocked calls, mocked SDKs, and posthog-js in a DOM of it.
 * @param file The test's file
 */
export function causesInProcess(
  file: string,
  blocked: readonly string[],
  mocks: readonly string[],
): Partial<KnownCauses> {
  const { certain = [], ...others } = causesInDom(file);
  return { ...others, certain: [...blocked, ...certain], ...(mocks.length > 0 && { sdk: mocks }) };
}

function causesInDom(file: string): Partial<KnownCauses> {
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
