import type { Scenario } from "../../src/lab/scenario/scenario.ts";

/** A world with one of everything and fixed ids, which the contract tests start from. */

export const ids = {
  acme: "018f0000-0000-7000-8000-0000000000a1",
  globex: "018f0000-0000-7000-8000-0000000000a2",
  project: 11,
  otherProject: 12,
  dashboard: 101,
  restrictedDashboard: 102,
  otherDashboard: 103,
  tile: 1001,
  insight: 301,
  shortId: "abcd1234",
  flag: 401,
  cohort: 501,
  batchExport: "018f0000-0000-7000-8000-0000000000b1",
  run: "018f0000-0000-7000-8000-0000000000c1",
  backfill: "018f0000-0000-7000-8000-0000000000d1",
  owner: "018f0000-0000-7000-8000-0000000000e1",
  member: "018f0000-0000-7000-8000-0000000000e2",
  collaborator: "018f0000-0000-7000-8000-0000000000e3",
  survey: "018f0000-0000-7000-8000-000000000201",
  alert: "018f0000-0000-7000-8000-000000000202",
  hogFunction: "018f0000-0000-7000-8000-000000000203",
  variable: "018f0000-0000-7000-8000-000000000204",
  eventDefinition: "018f0000-0000-7000-8000-000000000205",
  propertyDefinition: "018f0000-0000-7000-8000-000000000206",
  propertyGroup: "018f0000-0000-7000-8000-000000000207",
  eventSchema: "018f0000-0000-7000-8000-000000000208",
  role: "0195c0de-0000-4000-8000-00000000ac01",
  invite: "0195c0de-0000-4000-8000-00000000ac02",
  action: 601,
  annotation: 602,
  subscription: 603,
  feature: "018f0000-0000-7000-8000-000000000207",
  experiment: 604,
  notebook: "nbnbnb01",
  template: "018f0000-0000-7000-8000-000000000101",
  event: "018f0000-0000-7000-8000-0000000000f1",
  sharingToken: "contract_sharing_token_0000001",
  projectKey: "phc_contract",
} as const;

export const keys = {
  all: "phx_all",
  reader: "phx_reader",
  member: "phx_member",
  oneProject: "phx_one_project",
  stranger: "phx_stranger",
} as const;

export const twoOrganizations: Scenario = {
  version: 1,
  users: [
    { email: "owner@contract.test", id: 1, uuid: ids.owner, first_name: "Olga" },
    { email: "member@contract.test", id: 2, uuid: ids.member },
    { email: "collaborator@contract.test", id: 3, uuid: ids.collaborator },
    { email: "stranger@contract.test", id: 4 },
  ],
  organizations: [
    {
      id: ids.acme,
      name: "Acme",
      members: {
        "owner@contract.test": "owner",
        "member@contract.test": "member",
        "collaborator@contract.test": "member",
      },
      available_product_features: ["access_control"],
      roles: [{ id: ids.role, name: "Editors", members: ["member@contract.test"] }],
      invites: [{ id: ids.invite, target_email: "new@contract.test" }],
      projects: [
        {
          id: ids.project,
          name: "Web",
          api_key: ids.projectKey,
          secret_api_key: "phs_contract",
          flags: {
            beta: { id: ids.flag, filters: { groups: [{ properties: [], rollout_percentage: 50 }] } },
            variants: { rollout: 100, variants: { control: 50, test: 50 }, payloads: { test: { a: 1 } } },
            remote: { is_remote_configuration: true, filters: { groups: [], payloads: { true: '"on"' } } },
          },
          cohorts: [{ id: ids.cohort, name: "Everyone" }],
          insights: [{ id: ids.insight, short_id: ids.shortId, name: "Pageviews", query: { kind: "InsightVizNode" } }],
          dashboards: [
            {
              id: ids.dashboard,
              name: "Open",
              tags: ["a"],
              tiles: [{ id: ids.tile, text: "Hello" }, { insight: "Pageviews" }],
              sharing: { enabled: true, access_token: ids.sharingToken },
            },
            {
              id: ids.restrictedDashboard,
              name: "Restricted",
              restriction_level: 37,
              collaborators: ["collaborator@contract.test"],
            },
            { id: ids.otherDashboard, name: "Third" },
          ],
          dashboard_templates: [
            { id: ids.template, template_name: "Starter", tiles: [{ type: "TEXT", body: "Hello", layouts: {} }] },
          ],
          batch_exports: [
            {
              id: ids.batchExport,
              name: "Nightly",
              destination: {
                type: "S3",
                config: { bucket_name: "b", region: "r", prefix: "p", aws_secret_access_key: "s" },
              },
              interval: "hour",
              // Running, it would have thousands of hours to catch up with whenever a call moves the clock.
              paused: true,
              backfills: [{ id: ids.backfill, status: "Completed", start_at: "2026-01-01T00:00:00Z" }],
              runs: [
                {
                  id: ids.run,
                  status: "Failed",
                  data_interval_start: "2026-01-01T00:00:00Z",
                  data_interval_end: "2026-01-01T01:00:00Z",
                  records_completed: 3,
                  latest_error: "it broke",
                  logs: [{ level: "ERROR", message: "it broke" }],
                },
              ],
            },
          ],
          surveys: [{ id: ids.survey, name: "How was it?" }],
          actions: [{ id: ids.action, name: "Seen", steps: [{ event: "seen" }] }],
          annotations: [{ id: ids.annotation, content: "Released" }],
          alerts: [{ id: ids.alert, name: "Few", insight: "Pageviews" }],
          hog_functions: [{ id: ids.hogFunction, name: "Hook", type: "destination" }],
          subscriptions: [{ id: ids.subscription, insight: "Pageviews", target_type: "email" }],
          notebooks: [{ id: ids.notebook, title: "Notes" }],
          insight_variables: [{ id: ids.variable, name: "Limit", type: "Number" }],
          event_definitions: [{ id: ids.eventDefinition, name: "seen" }],
          schema_property_groups: [{ id: ids.propertyGroup, name: "Contact" }],
          event_schemas: [{ id: ids.eventSchema, event_definition: "seen", property_group_id: "Contact" }],
          property_definitions: [{ id: ids.propertyDefinition, name: "plan" }],
          early_access_features: [{ id: ids.feature, stage: "beta" }],
          experiments: [
            { id: ids.experiment, name: "Colours", feature_flag_key: "variants", start_date: "2026-01-01T00:00:00Z" },
          ],
          prompts: [{ name: "greeting", prompt: "Hello", version: 1, label: "production" }],
        },
        { id: ids.otherProject, name: "App", api_key: "phc_contract_app" },
      ],
    },
    {
      id: ids.globex,
      name: "Globex",
      members: { "stranger@contract.test": "owner" },
      projects: [{ id: 21, name: "Elsewhere", api_key: "phc_elsewhere", dashboards: [{ id: 201, name: "Theirs" }] }],
    },
  ],
  personal_api_keys: [
    { key: keys.all, id: "key-all", scopes: ["*"] },
    {
      key: keys.reader,
      scopes: ["dashboard:read", "sharing_configuration:read", "organization:read", "batch_export:read"],
    },
    { key: keys.member, scopes: ["*"], user: "member@contract.test" },
    { key: keys.oneProject, scopes: ["*"], projects: [ids.project] },
    { key: keys.stranger, scopes: ["*"], user: "stranger@contract.test" },
  ],
};
