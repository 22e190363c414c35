import { PostHog } from "posthog-js";

/** A page of the shop: it tracks with posthog-js, and a flag decides on its button. */
export function openPage({ apiKey, host }) {
  const posthog = new PostHog();
  posthog.init(apiKey, {
    api_host: host,
    autocapture: false,
    capture_pageview: false,
    disable_external_dependency_loading: true,
    disable_session_recording: true,
    opt_out_useragent_filter: true,
    request_batching: false,
  });
  return {
    visit(visitor) {
      document.title = "Mugs";
      posthog.identify(visitor);
      posthog.capture("page_seen", { title: document.title });
    },
    /** What the button says, once the flags are loaded. */
    button: () =>
      new Promise((resolve) => {
        posthog.onFeatureFlags(() =>
          resolve(posthog.getFeatureFlag("new-checkout") === "test" ? "Pay now" : "Check out"),
        );
      }),
  };
}
