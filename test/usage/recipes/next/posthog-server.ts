import { PostHog } from "posthog-node";

/** For route handlers and server actions. They end with the response, so each event is sent at once. */
export const posthog = new PostHog(process.env.NEXT_PUBLIC_POSTHOG_KEY ?? "", {
  host: process.env.POSTHOG_HOST,
  flushAt: 1,
  flushInterval: 0,
});
