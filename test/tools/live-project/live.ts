import type { Scenario } from "../../../src/index.ts";
import { key } from "./command-line.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const property = (name: string, operator: string, value: Json, more: Record<string, Json> = {}) => ({
  key: name,
  type: "person",
  operator,
  value,
  ...more,
});
const when = (...properties: Json[]) => ({ groups: [{ properties, rollout_percentage: 100 }] });
const inCohort = (id: number, operator = "in") => ({ key: "id", type: "cohort", operator, value: id });
const onFlag = (id: number, value: Json) => ({ key: String(id), type: "flag", operator: "flag_evaluates_to", value });

/** A project with a flag for each kind of rule, and documents of the other kinds. */
export const liveScenario = {
  version: 1,
  users: [{ email: "ada@acme.com" }],
  organizations: [
    {
      name: "Live",
      projects: [
        {
          id: 7,
          name: "Shop",
          api_key: "phc_live",
          secret_api_key: "phs_liveliveliveliveliveliveliveliveliveLive1",
          timezone: "Europe/Berlin",
          group_types: ["company", "team"],
          persons: [{ distinct_ids: ["xena-7"], properties: { email: "xena@acme.com" } }],
          cohorts: [
            {
              id: 31,
              name: "Paying",
              filters: { properties: { type: "AND", values: [property("plan", "exact", ["pro", "enterprise"])] } },
              created_by: "ada@acme.com",
            },
            {
              id: 32,
              name: "Paying adults",
              filters: { properties: { type: "AND", values: [inCohort(31), property("age", "gte", 30)] } },
            },
            { id: 33, name: "Friends", is_static: true, persons: ["xena-7"] },
          ],
          flags: {
            on: { filters: when(), id: 101 },
            off: { filters: { groups: [] } },
            inactive: { active: false, filters: when() },
            "rollout-1": { filters: { groups: [{ properties: [], rollout_percentage: 1 }] } },
            "rollout-50": { filters: { groups: [{ properties: [], rollout_percentage: 50 }] }, id: 102 },
            "rollout-99.5": { filters: { groups: [{ properties: [], rollout_percentage: 99.5 }] } },
            variants: {
              id: 103,
              filters: {
                groups: [{ properties: [], rollout_percentage: 80 }],
                multivariate: {
                  variants: [
                    { key: "control", rollout_percentage: 33.3 },
                    { key: "a", rollout_percentage: 33.3 },
                    { key: "b", rollout_percentage: 33.4 },
                  ],
                },
                payloads: { control: '{"colour":"red"}', a: "[1,2]", b: '"text"' },
              },
            },
            forced: {
              filters: {
                groups: [
                  { properties: [property("plan", "exact", ["pro"])], rollout_percentage: 100, variant: "b" },
                  { properties: [], rollout_percentage: 100 },
                ],
                multivariate: {
                  variants: [
                    { key: "a", rollout_percentage: 70 },
                    { key: "b", rollout_percentage: 30 },
                  ],
                },
              },
            },
            payload: { filters: { ...when(), payloads: { true: '{"size":3,"list":["x"]}' } } },
            exact: { filters: when(property("country", "exact", ["DE", "FR"])) },
            "is-not": { filters: when(property("country", "is_not", ["US"])) },
            domain: { filters: when(property("email", "icontains", "@acme.com")) },
            boss: { filters: when(property("email", "exact", ["boss@acme.com", "p9@acme.com"])) },
            regex: { filters: when(property("email", "regex", "^p[0-4]\\d*@(acme|example)\\.")) },
            "not-regex": { filters: when(property("email", "not_regex", "\\.test$")) },
            gt: { filters: when(property("visits", "gt", 10)) },
            lte: { filters: when(property("age", "lte", 40)) },
            set: { filters: when(property("beta", "is_set", "is_set")) },
            "not-set": { filters: when(property("beta", "is_not_set", "is_not_set")) },
            before: { filters: when(property("signed_up", "is_date_before", "2023-01-01")) },
            relative: { filters: when(property("signed_up", "is_date_after", "-2y")) },
            semver: { filters: when(property("app_version", "semver_gte", "2.1.0")) },
            paying: { filters: when(inCohort(31)) },
            "paying-adults": { filters: when(inCohort(32)) },
            "not-paying": { filters: when(inCohort(31, "not_in")) },
            "for-companies": {
              filters: { aggregation_group_type_index: 0, groups: [{ properties: [], rollout_percentage: 40 }] },
            },
            "big-companies": {
              filters: {
                aggregation_group_type_index: 0,
                groups: [
                  {
                    properties: [{ key: "size", type: "group", group_type_index: 0, operator: "gt", value: 100 }],
                    rollout_percentage: 100,
                  },
                ],
              },
            },
            "for-teams": {
              filters: { aggregation_group_type_index: 1, groups: [{ properties: [], rollout_percentage: 50 }] },
            },
            "early-exit": {
              filters: {
                early_exit: true,
                groups: [
                  { properties: [property("plan", "exact", ["pro"])], rollout_percentage: 20 },
                  { properties: [], rollout_percentage: 100 },
                ],
              },
            },
            continuity: {
              ensure_experience_continuity: true,
              filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
            },
            "by-device": {
              bucketing_identifier: "device_id",
              filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
            },
            "depends-on-flag": { filters: when(onFlag(102, true)) },
            "depends-on-variant": { filters: when(onFlag(103, "a")) },
            "several-sets": {
              filters: {
                groups: [
                  {
                    properties: [property("plan", "exact", ["enterprise"]), property("age", "gt", 50)],
                    rollout_percentage: 100,
                  },
                  { properties: [property("plan", "exact", ["pro"])], rollout_percentage: 30 },
                ],
              },
            },
            "server-only": { evaluation_runtime: "server", filters: when() },
            remote: { is_remote_configuration: true, filters: { ...when(), payloads: { true: '{"limit":10}' } } },
            "survey-targeting-1-custom": {
              id: 190,
              filters: when(property("$survey_dismissed/s", "is_not_set", "is_not_set")),
            },
          },
          surveys: [
            {
              id: "0195a000-7000-7000-8000-0000000000a1",
              name: "How was it?",
              type: "popover",
              questions: [{ id: "q1", type: "open", question: "What should we do better?" }],
              conditions: { url: "/thank-you", urlMatchType: "icontains" },
              start_date: "2025-01-15T00:00:00Z",
              linked_flag_id: "on",
              internal_targeting_flag_id: 190,
            },
          ],
          actions: [
            { id: 51, name: "Bought", steps: [{ event: "order_completed" }] },
            {
              id: 52,
              name: "Told",
              post_to_slack: true,
              slack_message_format: "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
            },
          ],
          event_definitions: [{ name: "order_completed", description: "An order was paid" }],
          property_definitions: [
            { name: "amount", property_type: "Numeric" },
            { name: "plan", type: "person", property_type: "String" },
            { name: "size", type: "group", group_type_index: 0, property_type: "Numeric" },
          ],
          insights: [
            {
              id: 61,
              name: "Orders",
              query: {
                kind: "InsightVizNode",
                source: { kind: "TrendsQuery", series: [{ kind: "EventsNode", event: "order_completed" }] },
              },
            },
            {
              id: 62,
              name: "Revenue",
              query: {
                kind: "DataVisualizationNode",
                source: {
                  kind: "HogQLQuery",
                  query: "select sum(properties.amount) from events where event = 'order_completed'",
                },
              },
            },
          ],
          dashboards: [{ id: 71, name: "Sales", tiles: [{ insight: "Revenue" }, { text: "Ask ada@acme.com" }] }],
          settings: {
            minimal_flag_called_events: true,
            session_recording_trigger_groups: {
              version: 2,
              groups: [{ id: "errors", sampleRate: 1, conditions: { matchType: "any", events: ["error"] } }],
            },
          },
          remote_config: { sessionRecording: { sampleRate: "0.5" }, heatmaps: true },
        },
      ],
    },
  ],
  personal_api_keys: [{ key, scopes: ["*"] }],
} as unknown as Scenario;
