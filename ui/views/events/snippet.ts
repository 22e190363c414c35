const text = (value: string): string => JSON.stringify(value);

/** The shortest program that sends an event to this sim. */
export const snippetFor = (url: string, key: string): string =>
  [
    'import { PostHog } from "posthog-node";',
    "",
    `const posthog = new PostHog(${text(key)}, { host: ${text(url)} });`,
    'posthog.capture({ distinctId: "user-1", event: "hello" });',
    "await posthog.shutdown();",
  ].join("\n");
