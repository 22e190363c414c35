import { PostHog } from "posthog-node";

const posthog = new PostHog(process.env.POSTHOG_API_KEY, { host: process.env.POSTHOG_HOST });
posthog.capture({ distinctId: "user-8231", event: "report sent", properties: { pages: 3 } });
await posthog.shutdown();
