export default defineNuxtConfig({
  // NUXT_PUBLIC_POSTHOG_KEY and NUXT_PUBLIC_POSTHOG_HOST replace these values.
  runtimeConfig: { public: { posthogKey: "", posthogHost: "https://us.i.posthog.com" } },
});
