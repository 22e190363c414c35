import { PostHog } from "posthog-node";

/** A small shop whose server tracks with posthog-node and lets a flag decide on its price page. */
export function openShop({ apiKey, host }) {
  const posthog = new PostHog(apiKey, { host });

  return {
    /** A visitor makes an account: what was tracked of the visitor is now the user's. */
    signUp(visitor, user, plan) {
      posthog.capture({ distinctId: visitor, event: "signup_started" });
      posthog.identify({ distinctId: user, properties: { plan, $anon_distinct_id: visitor } });
      posthog.capture({ distinctId: user, event: "signup_completed", properties: { plan } });
    },

    buy(user, items) {
      const amount = items.reduce((sum, { price }) => sum + price, 0);
      if (amount === 0) return;
      posthog.capture({ distinctId: user, event: "checkout_completed", properties: { amount, items } });
    },

    async pricePage(user) {
      const flags = await posthog.evaluateFlags(user);
      return flags.getFlag("new-prices") === "yearly" ? "120 a year" : "12 a month";
    },

    /** Sends what is buffered; a server does so when it ends. */
    close: () => posthog.shutdown(),
  };
}
