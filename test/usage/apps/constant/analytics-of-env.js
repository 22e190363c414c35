import { PostHog } from "posthog-node";

/** Made when this file is loaded: later changes of the variables have no effect. */
export const posthog = new PostHog(process.env.POSTHOG_API_KEY, { host: process.env.POSTHOG_HOST });

export function trackSignup(user, plan) {
  posthog.capture({ distinctId: user, event: "signed_up", properties: { plan } });
}
