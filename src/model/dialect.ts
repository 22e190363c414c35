/** Which side is followed where the contract and the live service differ. */

export type Dialect = "documented" | "production";

/** One difference between the contract and the live service. The README's table is made from these rows. */
export interface Difference {
  topic: string;
  documented: string;
  production: string;
  source: string;
}

export const differences = {
  nameless_events: {
    topic: "event without a name, without a distinct_id, or with an empty one",
    documented: "200; that event is dropped, the others are kept",
    production: "400 for the whole request, nothing is kept",
    source: "contract, Errors; PostHog/posthog rust/capture/src/v0_request.rs",
  },
  malformed_items: {
    topic: "batch item that is not an object",
    documented: "200; that item is dropped, the others are kept",
    production: "400 for the whole request, nothing is kept",
    source: "contract, Errors (read the same way); PostHog/posthog rust/capture/src/v0_request.rs",
  },
  alias_direction: {
    topic: "which id survives a `$create_alias`",
    documented: "`alias` becomes the main id; the event's distinct_id is merged into it",
    production: "`alias` is merged into the event's distinct_id",
    source: "contract, Event capture; PostHog/posthog person-merge-service.ts",
  },
  get_on_ingestion: {
    topic: "GET on /capture, /batch and /decide",
    documented: "405: the contract calls them POST-only",
    production: "accepted (events in `?data=`; a flagless stub from /decide)",
    source: "contract, What the service does; PostHog/posthog rust/capture/src/router.rs",
  },
  unknown_project_key: {
    topic: "well-formed project key that no project has, on capture",
    documented: "401, nothing is kept",
    production: "200; each event is dropped with its reason",
    source: "contract, Errors; PostHog/posthog rust/capture/src/token.rs",
  },
  supported_compression: {
    topic: "`supportedCompression` in decide answers",
    documented: '["gzip", "lz64"]',
    production: '["gzip", "gzip-js"]',
    source: "contract, Decide response; PostHog/posthog rust/feature-flags",
  },
} as const satisfies Record<string, Difference>;
