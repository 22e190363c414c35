import { PostHog } from "posthog-node";

/** Made when this file is loaded, with the real project's key and host. */
export const posthog = new PostHog("phc_of_the_real_project", { host: "https://us.i.posthog.com" });

export function trackSignup(user, plan) {
  posthog.capture({ distinctId: user, event: "signed_up", properties: { plan } });
}
