import posthog from "posthog-js";
import { dev } from "$app/environment";
import { env } from "$env/dynamic/public";

export function init() {
  posthog.init(env.PUBLIC_POSTHOG_KEY, {
    api_host: env.PUBLIC_POSTHOG_HOST,
    defaults: "2026-01-30",
    opt_out_useragent_filter: dev,
  });
}
