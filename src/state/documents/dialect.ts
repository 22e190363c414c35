export type { Dialect } from "./dialect-names.ts";

/** One difference between the contract and the live service. docs/reference/dialects.md is made from these rows. */
export interface DialectDifference {
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
  crawlers: {
    topic: "flags of a browser of a test tool, by its user agent (headless Chrome, Cypress, Lightpanda)",
    documented: "as of any browser; only requests of crawlers, by user agent or address, get `flags: {}`",
    production: "`flags: {}`, as for crawlers",
    source: "PostHog/posthog#59254, rust/feature-flags/src/utils/bot_detection.rs",
  },
  strict_json: {
    topic:
      "event with `token` and `api_key`, with `distinct_id` and `$distinct_id`, or with a field twice; a number like `1e400`; a batch whose `historical_migration` is no boolean or whose `sent_at` is no string",
    documented: "200: the first name, the last value, and fields of a wrong type are ignored",
    production: "400 for the whole request, nothing is kept",
    source: "contract, Event capture; PostHog/posthog rust/capture/src/v0_request.rs",
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
    topic: "`supportedCompression` in decide responses",
    documented: '["gzip", "lz64"]',
    production: '["gzip", "gzip-js"]',
    source: "contract, Decide response; PostHog/posthog rust/feature-flags",
  },
  move_tile_body: {
    topic: "response to PATCH …/dashboards/:id/move_tile",
    documented: "200 without a body",
    production: "200 with the source dashboard",
    source: "contract, Dashboards; PostHog/posthog posthog/api/dashboards/dashboard.py",
  },
  template_body: {
    topic: "response to POST …/dashboards/create_from_template_json",
    documented: "200 without a body",
    production: "200 with the new dashboard",
    source: "contract, Dashboards; PostHog/posthog posthog/api/dashboards/dashboard.py",
  },
  template_fields: {
    topic: "body of POST …/dashboards/create_from_template_json",
    documented: "a dashboard's writable fields and optionally `template`; the fields override the template's",
    production: "`template` is required, other fields are ignored",
    source: "contract, Dashboards; PostHog/posthog posthog/api/dashboards/dashboard.py",
  },
  dashboard_write_only: {
    topic: "`use_template`, `use_dashboard`, `delete_insights` in a dashboard's detail",
    documented: 'shown: "", null, false',
    production: "left out: they are write-only",
    source: "contract, Dashboard; PostHog/posthog posthog/api/dashboards/dashboard.py",
  },
  collaborator_user_uuid: {
    topic: "`user_uuid` in a collaborator",
    documented: "shown",
    production: "left out: it is write-only",
    source: "contract, Dashboard collaborator; PostHog/posthog ee/api/dashboard_collaborator.py",
  },
  hedgehog_config: {
    topic: "`hedgehog_config` of a user who has none",
    documented: "{}",
    production: "null",
    source: "contract, User; PostHog/posthog posthog/api/shared.py",
  },
  organization_types: {
    topic: "types of an organization's `metadata` and `member_count`",
    documented: "strings: the metadata as JSON text, the count in digits",
    production: "an object and a number",
    source: "contract, Organization; PostHog/posthog posthog/api/organization.py",
  },
  organization_logo: {
    topic: "`logo_media_id` of an organization",
    documented: "any UUID: uploads are not emulated",
    production: "400: no such media",
    source: "contract, Organization; PostHog/posthog posthog/api/organization.py",
  },
  batch_export_query: {
    topic: "`hogql_query` in a batch export",
    documented: "shown",
    production: "left out: it is turned into `schema`",
    source: "contract, Batch export; PostHog/posthog posthog/batch_exports/http.py",
  },
  backfill_body: {
    topic: "response to POST …/batch_exports/:id/backfill",
    documented: "200 without a body",
    production: '200 with {"backfill_id": …}',
    source: "contract, Batch exports; PostHog/posthog posthog/batch_exports/http.py",
  },
  organization_batch_exports: {
    topic: "POST, backfill and logs at /api/organizations/:id/batch_exports",
    documented: "work; a new export belongs to the caller's current project, or the organization's first",
    production: "500: the service looks for a project in the URL and finds none; use the project's URLs",
    source: "contract, Batch exports; PostHog/posthog posthog/batch_exports/http.py",
  },
} as const satisfies Record<string, DialectDifference>;
