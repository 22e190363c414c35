import type { PostHog } from "posthog-node";

export declare const posthog: PostHog;
export declare function trackSignup(user: string, plan: string): void;
