/** A quoted string; `<` is escaped, as it could end a script element. */
export const quoted = (text: string): string => JSON.stringify(text).replaceAll("<", "\\u003c");

/** A program for browsers that makes the given calls. */
export const browserSnippet = (key: string, host: string, ...calls: readonly string[]): string =>
  [
    'import posthog from "posthog-js";',
    "",
    `posthog.init(${quoted(key)}, { api_host: ${quoted(host)} });`,
    ...calls.map((it) => `posthog.${it};`),
  ].join("\n");

/** A Node program that makes the given calls. */
export const nodeSnippet = (key: string, host: string, ...calls: readonly string[]): string =>
  [
    'import { PostHog } from "posthog-node";',
    "",
    `const posthog = new PostHog(${quoted(key)}, { host: ${quoted(host)} });`,
    ...calls.map((it) => `posthog.${it};`),
    "await posthog.shutdown();",
  ].join("\n");

/** A Node call that captures an event. */
export const nodeCapture = 'capture({ distinctId: "user-1", event: "hello" })';
