import { PostHog } from "posthog-node";

const posthog = new PostHog(process.env.POSTHOG_API_KEY, { host: process.env.POSTHOG_HOST });
const user = {};
posthog.capture({ distinctId: `${user.id}`, event: "report sent" });
await posthog.shutdown();
