import posthog from "posthog-js";

posthog.init(process.env.NEXT_PUBLIC_POSTHOG_KEY ?? "", {
  api_host: "/ingest",
  ui_host: "https://us.posthog.com",
  defaults: "2026-01-30",
  // Automated browsers count as bots, whose events posthog-js does not send.
  opt_out_useragent_filter: process.env.NODE_ENV !== "production",
});
