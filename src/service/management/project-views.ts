import { z } from "zod";
import { isObject, type Json } from "../../kernel/base/json.ts";
import { isTimeZone } from "../../kernel/base/time-text.ts";
import {
  boolean,
  choice,
  dictionary,
  integer,
  json,
  list,
  numberChoice,
  text,
} from "../../state/documents/lenient-fields.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { MemberLevel } from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { shownAs } from "../api-frame/fields.ts";

/** A setting of a project: its initial value, and which values may be written. */
interface Setting<T extends z.ZodType> {
  readonly initial: z.infer<T>;
  readonly field: T;
}

const setting = <T extends z.ZodType>(initial: z.infer<T>, field: T): Setting<T> => ({ initial, field });

const flag = (initial: boolean) => setting(initial, boolean());
const switchable = (initial: boolean) => setting(initial, boolean().nullable());
const optionalFlag = () => setting(null, boolean().nullable());
const optionalText = (max: number) => setting(null, text({ max, blank: true }).nullable());
const optionalNumber = (min: number, max: number) => setting(null, integer({ min, max }).nullable());
const optionalObject = () => setting(null, dictionary().nullable());
const optionalTexts = (max: number) => setting(null, list(text({ max, blank: true })).nullable());
const anything = (initial: Json) => setting(initial, json());

/**
 * What can be set, in the order in which it is shown. Upstream PostHog/posthog posthog/api/project.py and the
 * defaults of posthog/models/team/team.py.
 */
const settings = {
  app_urls: setting([], list(text({ max: 200, blank: true }).nullable())),
  slack_incoming_webhook: optionalText(500),
  anonymize_ips: flag(false),
  completed_snippet_onboarding: flag(false),
  test_account_filters: anything([]),
  test_account_filters_default_checked: optionalFlag(),
  path_cleaning_filters: anything([]),
  data_attributes: anything(["data-attr"]),
  person_display_name_properties: optionalTexts(400),
  correlation_config: optionalObject(),
  autocapture_opt_out: optionalFlag(),
  autocapture_exceptions_opt_in: optionalFlag(),
  autocapture_web_vitals_opt_in: optionalFlag(),
  autocapture_web_vitals_allowed_metrics: anything(null),
  autocapture_exceptions_errors_to_ignore: anything(null),
  capture_console_log_opt_in: optionalFlag(),
  capture_performance_opt_in: optionalFlag(),
  capture_dead_clicks: optionalFlag(),
  session_recording_opt_in: flag(false),
  session_recording_sample_rate: optionalText(4),
  session_recording_minimum_duration_milliseconds: optionalNumber(0, 30_000),
  session_recording_linked_flag: optionalObject(),
  session_recording_network_payload_capture_config: optionalObject(),
  session_recording_masking_config: optionalObject(),
  session_recording_url_trigger_config: anything(null),
  session_recording_url_blocklist_config: anything(null),
  session_recording_event_trigger_config: setting(null, list(text({ blank: true }).nullable()).nullable()),
  session_recording_trigger_match_type_config: optionalText(24),
  session_recording_trigger_groups: optionalObject(),
  session_recording_retention_period: setting("30d", choice(["30d", "90d", "1y", "5y"])),
  session_replay_config: optionalObject(),
  survey_config: optionalObject(),
  week_start_day: setting(null, numberChoice([0, 1]).nullable()),
  live_events_columns: optionalTexts(400),
  recording_domains: optionalTexts(200),
  inject_web_apps: optionalFlag(),
  extra_settings: optionalObject(),
  modifiers: optionalObject(),
  has_completed_onboarding_for: optionalObject(),
  surveys_opt_in: optionalFlag(),
  heatmaps_opt_in: optionalFlag(),
  flags_persistence_default: optionalFlag(),
  flags_v3_response_enabled: optionalFlag(),
  minimal_flag_called_events: optionalFlag(),
  logs_settings: optionalObject(),
  cookieless_server_hash_mode: setting(0, numberChoice([0, 1, 2]).nullable()),
  human_friendly_comparison_periods: switchable(false),
  feature_flag_confirmation_enabled: switchable(false),
  feature_flag_confirmation_message: setting(null, text({ blank: true }).nullable()),
  default_evaluation_contexts_enabled: switchable(false),
  default_evaluation_environments_enabled: switchable(false),
  default_data_theme: setting(null, integer().nullable()),
  base_currency: setting("USD", text({ max: 3 })),
  revenue_analytics_config: setting({}, dictionary()),
  marketing_analytics_config: setting({}, dictionary()),
  customer_analytics_config: setting({}, dictionary()),
  web_analytics_pre_aggregated_tables_enabled: switchable(false),
  experiment_recalculation_time: optionalText(8),
  onboarding_tasks: optionalObject(),
  conversations_enabled: optionalFlag(),
  conversations_settings: optionalObject(),
  product_tours_opt_in: optionalFlag(),
} as const;

type Settings = typeof settings;
type SettingName = keyof Settings;
type Fields = { [N in SettingName]: Settings[N]["field"] };
type OptionalFields = { [N in SettingName]: z.ZodOptional<Settings[N]["field"]> };

const entries = Object.entries(settings);

export const settingNames: readonly string[] = Object.keys(settings);

/** Fields of an answer. */
const settingFields = Object.fromEntries(entries.map(([name, { field }]) => [name, field])) as Fields;

/** Fields of a body; each may be left out. */
const optionalSettingFields = Object.fromEntries(
  entries.map(([name, { field }]) => [name, field.optional()]),
) as OptionalFields;

type ShownSettings = z.infer<z.ZodObject<Fields>>;

/** All settings: the stored ones merged over the defaults. */
const showSettings = (kept: Readonly<Record<string, Json>>): ShownSettings =>
  // What is kept was checked when it was written, or authored by hand.
  Object.fromEntries(
    entries.map(([name, { initial }]) => [name, Object.hasOwn(kept, name) ? kept[name] : initial]),
  ) as ShownSettings;

/** Their keys are merged with the stored ones; all other settings are replaced. */
const merged: ReadonlySet<string> = new Set<SettingName>([
  "session_replay_config",
  "survey_config",
  "revenue_analytics_config",
  "marketing_analytics_config",
  "customer_analytics_config",
]);

/** The kept settings after a change; `written` may carry other fields, they are left out. */
export function changeSettings(
  kept: Readonly<Record<string, Json>>,
  written: Readonly<Record<string, Json | undefined>>,
): Record<string, Json> {
  const next = { ...kept };
  for (const [name] of entries) {
    const value = Object.hasOwn(written, name) ? written[name] : undefined;
    if (value === undefined) continue;
    const before = kept[name];
    const isMerged = merged.has(name) && isObject(before) && isObject(value);
    next[name] = isMerged ? { ...before, ...value } : value;
  }
  return next;
}

const zonePattern = /^[A-Z][A-Za-z_]*(\/[\w+-]+)*$|^UTC$|^GMT[+-]?\d*$/;

const timezone = z.string().superRefine((name, context) => {
  if (zonePattern.test(name) && isTimeZone(name)) return;
  const params = { code: "invalid_choice", detail: `"${name}" is not a valid choice.` };
  context.addIssue({ code: "custom", params });
});

/** What a project is created from and changed by: nothing is required, as at the service. */
export const ProjectBody = z.object({
  name: text({ max: 200 }).optional(),
  ...optionalSettingFields,
  is_demo: boolean().optional(),
  timezone: timezone.optional(),
  primary_dashboard: integer().nullable().optional(),
});
export type ProjectBody = z.infer<typeof ProjectBody>;

/** A project as lists and other documents show it. */
export const ProjectBasics = z
  .object({
    id: z.int(),
    uuid: z.string(),
    organization: z.string(),
    project_id: z.int(),
    api_token: z.string(),
    name: z.string(),
    completed_snippet_onboarding: z.boolean(),
    has_completed_onboarding_for: z.record(z.string(), z.json()).nullable(),
    ingested_event: z.boolean(),
    is_demo: z.boolean(),
    timezone: z.string(),
    access_control: z.boolean(),
  })
  .meta({ title: "ProjectBasics" });

const GroupType = z.object({
  group_type: z.string(),
  group_type_index: z.int(),
  name_singular: z.null(),
  name_plural: z.null(),
});

export const ProjectDetail = z
  .object({
    id: z.int(),
    organization: z.string(),
    project_id: z.int(),
    name: z.string(),
    created_at: z.string(),
    effective_membership_level: z.literal([1, 8, 15]),
    has_group_types: z.boolean(),
    group_types: z.array(GroupType),
    live_events_token: z.null(),
    updated_at: z.string(),
    uuid: z.string(),
    api_token: z.string(),
    ...settingFields,
    ingested_event: z.boolean(),
    is_demo: z.boolean(),
    timezone: z.string(),
    access_control: z.boolean(),
    primary_dashboard: z.int().nullable(),
    person_on_events_querying_enabled: z.literal(true),
    default_modifiers: z.record(z.string(), z.json()),
    product_intents: z.array(z.json()),
    secret_api_token: z.null(),
    secret_api_token_backup: z.null(),
  })
  .meta({ title: "Project" });

/** How projects are shown. Secret keys never are. Upstream PostHog/posthog posthog/api/project.py. */
export function openProjectViews(desk: ResourceDesk) {
  const hasEvents = (project: number): boolean => {
    for (const it of desk.events.newest({ project })) if (it) return true;
    return false;
  };
  const ofTeam = (project: StoredProject) => ({
    ...project,
    project_id: project.id,
    api_token: project.api_key,
    ingested_event: hasEvents(project.id),
    access_control: false,
  });
  return {
    basics: (project: StoredProject): z.infer<typeof ProjectBasics> =>
      shownAs(ProjectBasics, { ...showSettings(project.settings), ...ofTeam(project) }),
    detail(project: StoredProject, level: MemberLevel): z.infer<typeof ProjectDetail> {
      const groupTypes = desk.people.groupTypes(project.id);
      return shownAs(ProjectDetail, {
        ...showSettings(project.settings),
        ...ofTeam(project),
        effective_membership_level: level,
        has_group_types: groupTypes.length > 0,
        group_types: groupTypes.map((name, index) => ({
          group_type: name,
          group_type_index: index,
          name_singular: null,
          name_plural: null,
        })),
        default_modifiers: {},
        product_intents: [],
      });
    },
  };
}

export type ProjectViews = ReturnType<typeof openProjectViews>;
