import { posthog } from "posthog-js";

export const signedUp = (plan: string) => posthog.capture("signed_up", { plan });
export const ordered = (amount: number) => posthog.capture("order_completed", { amount });
