import { PostHog } from "posthog-node";

const posthog = new PostHog(process.env.POSTHOG_API_KEY ?? "", { host: process.env.POSTHOG_HOST ?? "" });

export async function pay(user: string, amount: number): Promise<void> {
  posthog.capture({ distinctId: user, event: "payment_started", properties: { amount } });
  const isNew = await posthog.isFeatureEnabled("new-checkout", user);
  if (amount < 0) posthog.capture({ distinctId: user, event: "refund_failed" });
  else posthog.capture({ distinctId: user, event: isNew ? "payment_completed" : "order_paid" });
  await posthog.shutdown();
}
