import { z } from "zod";
import type { Project } from "../../model/world.ts";
import type { Level } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { settingFields, showSettings } from "./settings.ts";

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
type ShownProjectBasics = z.infer<typeof ProjectBasics>;

const GroupType = z.object({
  group_type: z.string(),
  group_type_index: z.int(),
  name_singular: z.null(),
  name_plural: z.null(),
});

/** A project with all its settings. */
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
type ShownProject = z.infer<typeof ProjectDetail>;

/** How projects are shown. Secret keys never are. Upstream PostHog/posthog posthog/api/project.py. */
export function openProjectViews(desk: ResourceDesk) {
  const hasEvents = (project: number): boolean => {
    for (const _ of desk.events.newest({ project })) return true;
    return false;
  };
  const ofTeam = (project: Project) => ({
    ingested_event: hasEvents(project.id),
    is_demo: project.is_demo,
    timezone: project.timezone,
    access_control: false,
  });
  return {
    basics(project: Project): ShownProjectBasics {
      const kept = showSettings(project.settings);
      return {
        id: project.id,
        uuid: project.uuid,
        organization: project.organization,
        project_id: project.id,
        api_token: project.api_key,
        name: project.name,
        completed_snippet_onboarding: kept.completed_snippet_onboarding,
        has_completed_onboarding_for: kept.has_completed_onboarding_for,
        ...ofTeam(project),
      };
    },
    detail(project: Project, level: Level): ShownProject {
      const groupTypes = desk.people.groupTypes(project.id);
      return {
        id: project.id,
        organization: project.organization,
        project_id: project.id,
        name: project.name,
        created_at: project.created_at,
        effective_membership_level: level,
        has_group_types: groupTypes.length > 0,
        group_types: groupTypes.map((name, index) => ({
          group_type: name,
          group_type_index: index,
          name_singular: null,
          name_plural: null,
        })),
        live_events_token: null,
        updated_at: project.updated_at,
        uuid: project.uuid,
        api_token: project.api_key,
        ...showSettings(project.settings),
        ...ofTeam(project),
        primary_dashboard: project.primary_dashboard,
        person_on_events_querying_enabled: true,
        default_modifiers: {},
        product_intents: [],
        secret_api_token: null,
        secret_api_token_backup: null,
      };
    },
  };
}

export type ProjectViews = ReturnType<typeof openProjectViews>;
