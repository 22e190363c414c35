/** An app with one mistake, and the code that must name it. */
export interface PlantedApp {
  /** Its file in test/tools/check/apps. */
  readonly app: string;
  readonly fault: string;
  readonly code: string;
  /** True for those that the suite runs; `npm run check:planted` runs all. */
  readonly quick?: true;
}

export const planted: readonly PlantedApp[] = [
  { app: "wrong-host.html", fault: "mistyped host", code: "host_wrong", quick: true },
  { app: "host-with-path.html", fault: "api_host with a path", code: "host_has_path" },
  { app: "dead-host.html", fault: "nothing answers at the host", code: "host_unreachable" },
  { app: "personal-key.html", fault: "personal key in the browser", code: "key_personal", quick: true },
  { app: "placeholder-key.html", fault: "placeholder key", code: "key_placeholder" },
  { app: "empty-key.html", fault: "empty key", code: "key_missing" },
  { app: "no-sdk.html", fault: "no SDK", code: "sdk_missing" },
  { app: "missing-page.html", fault: "page answers 404", code: "page_failed" },
  { app: "csp-script.html", fault: "CSP blocks the script", code: "sdk_blocked", quick: true },
  { app: "csp-connect.html", fault: "CSP blocks the requests", code: "requests_blocked" },
  { app: "snippet-404.html", fault: "snippet's script is 404", code: "sdk_script_failed" },
  { app: "never-initialized.html", fault: "init is never called", code: "sdk_not_initialized" },
  { app: "double-init.html", fault: "init is called twice", code: "sdk_initialized_twice" },
  { app: "two-copies.html", fault: "snippet and npm package", code: "sdk_loaded_twice" },
  { app: "identify-before-init.html", fault: "identify before init", code: "called_before_init", quick: true },
  { app: "capture-before-init.html", fault: "capture before init", code: "called_before_init" },
  { app: "opted-out.html", fault: "opted out by default", code: "sdk_opted_out" },
  { app: "before-send.html", fault: "before_send returns nothing", code: "before_send_drops" },
  { app: "bot-filter.html", fault: "bot filter fits Chrome", code: "bot_filter_blocks" },
  { app: "proxy-redirect.html", fault: "proxy answers 307", code: "proxy_redirects" },
  { app: "proxy-prefix.html", fault: "proxy keeps its prefix", code: "proxy_prefix" },
  { app: "proxy-body.html", fault: "proxy re-encodes bodies", code: "proxy_body", quick: true },
  { app: "proxy-partial.html", fault: "proxy without /flags", code: "proxy_fails" },
  { app: "identify-undefined.html", fault: 'identify("undefined")', code: "id_placeholder" },
  { app: "identify-email.html", fault: "e-mail address as id", code: "id_is_email" },
  { app: "two-users.html", fault: "second user without reset", code: "identified_twice" },
  { app: "reset-on-load.html", fault: "reset on every page", code: "reset_on_load" },
  { app: "memory.html", fault: "persistence in memory", code: "id_changes" },
  { app: "no-pageview.html", fault: "no page views", code: "pageview_missing" },
  { app: "spa-no-history.html", fault: "no page views in an SPA", code: "pageview_missing_history", quick: true },
  { app: "double-pageview.html", fault: "two page views per page", code: "pageview_duplicate" },
  { app: "flag-early.html", fault: "flag read before flags load", code: "flag_read_early" },
  { app: "recording-dropped.html", fault: "recordings are dropped", code: "recording_failed" },
  { app: "personal-data.html", fault: "e-mail address in a property", code: "pii_property" },
  { app: "personal-url.html", fault: "e-mail address in the URL", code: "pii_property" },
  { app: "name-casing.html", fault: "two spellings of an event", code: "similar_event_names" },
  { app: "name-with-id.html", fault: "ids in event names", code: "event_name_has_value" },
  { app: "type-flip.html", fault: "property of two types", code: "property_type_flip" },
  { app: "large-event.html", fault: "event of more than 1 MB", code: "event_too_large" },
  { app: "long-name.html", fault: "name of 300 characters", code: "event_changed" },
  { app: "node-no-flush.mjs", fault: "script ends without a flush", code: "server_not_flushed", quick: true },
  { app: "node-personal-key.mjs", fault: "personal key in posthog-node", code: "key_personal" },
  { app: "node-anonymous.mjs", fault: '"undefined" as distinctId', code: "id_placeholder" },
  { app: "node-fails.mjs", fault: "command fails", code: "app_failed" },
];

/** Apps without a mistake: no error and no warning may be reported. */
export const sound: readonly { readonly app: string; readonly quick?: true }[] = [
  { app: "sound-npm.html", quick: true },
  { app: "sound-snippet.html", quick: true },
  { app: "sound-proxy.html" },
  { app: "sound-spa.html" },
  { app: "sound-router.html" },
  { app: "sound-login.html", quick: true },
  { app: "sound-consent.html" },
  { app: "sound-cookieless.html" },
  { app: "sound-scrub.html" },
  { app: "sound-csp.html" },
  { app: "sound-named.html" },
  { app: "sound-node.mjs" },
  { app: "sound-server.mjs", quick: true },
];
