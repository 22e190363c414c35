import posthog from "posthog-js";

export default defineNuxtPlugin(() => {
  const { posthogKey, posthogHost } = useRuntimeConfig().public;
  posthog.init(posthogKey, {
    api_host: posthogHost,
    defaults: "2026-01-30",
    opt_out_useragent_filter: import.meta.dev,
  });
  return { provide: { posthog } };
});
