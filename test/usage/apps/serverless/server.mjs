import { createServer } from "node:http";
import { PostHog } from "posthog-node";

const posthog = new PostHog(process.env.POSTHOG_API_KEY, { host: process.env.POSTHOG_HOST });

/** What each path does with its event before, or beside, its response. */
const handlers = {
  "/checkout": async () => {
    posthog.capture({ distinctId: "user-1", event: "checkout_completed" });
  },
  "/checkout-flushed": async () => {
    posthog.capture({ distinctId: "user-1", event: "checkout_completed" });
    await posthog.flush();
  },
  "/checkout-immediate": async () => {
    await posthog.captureImmediate({ distinctId: "user-1", event: "checkout_completed" });
  },
  "/checkout-wait-until": async () => {
    posthog.capture({ distinctId: "user-1", event: "checkout_completed" });
    // as waitUntil() of @vercel/functions does
    globalThis[Symbol.for("@vercel/request-context")]?.get().waitUntil(posthog.flush());
  },
  "/health": async () => {},
};

const server = createServer(async ({ url }, response) => {
  await handlers[url]?.();
  response.end("ok");
});
server.listen(0, "127.0.0.1", async () => {
  // Instead of a client: the paths of the command line, one after the other.
  for (const path of process.argv.slice(2))
    await fetch(`http://127.0.0.1:${server.address().port}${path}`).catch(() => {});
});
