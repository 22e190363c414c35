/* The snippet of PostHog's documentation, with fewer methods. */
((document, posthog) => {
  if (posthog.__SV) return;
  window.posthog = posthog;
  posthog._i = [];
  posthog.init = (key, config, name) => {
    const script = document.createElement("script");
    script.crossOrigin = "anonymous";
    script.async = true;
    script.src = `${config.api_host.replace(".i.posthog.com", "-assets.i.posthog.com")}/static/array.js`;
    document.head.append(script);
    for (const method of ["capture", "identify", "reset", "opt_in_capturing", "onFeatureFlags"])
      posthog[method] = (...args) => posthog.push([method, ...args]);
    posthog.people = [];
    posthog._i.push([key, config, name ?? "posthog"]);
  };
  posthog.__SV = 1;
})(document, window.posthog || []);
