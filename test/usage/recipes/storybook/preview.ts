import posthog from "posthog-js";

posthog.init(import.meta.env.STORYBOOK_POSTHOG_KEY, {
  api_host: import.meta.env.STORYBOOK_POSTHOG_HOST,
  capture_pageview: false,
  opt_out_useragent_filter: true,
});

export default {
  // Stories start once the flags are loaded.
  loaders: [() => new Promise<void>((resolve) => posthog.onFeatureFlags(() => resolve()))],
};
