import type { Path } from "../../kernel/base/json.ts";
import { isUuid } from "../../kernel/base/text.ts";
import { blankFeatureFlag, blankProject } from "../../state/documents/blank.ts";
import {
  cohortKind,
  dashboardKind,
  flagKind,
  insightKind,
  templateKind,
  tileKind,
} from "../../state/documents/kind-values.ts";
import { tidyTags } from "../../state/documents/tags.ts";
import type {
  Dashboard,
  FeatureFlag,
  Insight,
  Organization,
  StoredProject,
  Tile,
} from "../../state/documents/world.ts";
import { maxGroupTypes, type Person, personUuid } from "../../state/persons/person.ts";
import { addBatchExport } from "./build-batch-export.ts";
import { addResources } from "./build-resources.ts";
import type {
  AuthoredCohort,
  AuthoredDashboard,
  AuthoredFlag,
  AuthoredInsight,
  AuthoredPerson,
  AuthoredProject,
  AuthoredTemplate,
  AuthoredTile,
  ServiceFlag,
  ShortFlag,
} from "./project-schema.ts";
import { beginning, derivedLetters, derivedToken, each, Names, timeOr, type WorldBuilder } from "./world-builder.ts";

interface Target {
  readonly builder: WorldBuilder;
  readonly project: StoredProject;
}

export function addProject(
  builder: WorldBuilder,
  organization: Organization,
  authored: AuthoredProject,
  at: Path,
): void {
  const project = projectOf(builder, organization, authored, at);
  const target = { builder, project };
  const { primary_dashboard, ...boards } = addDashboards(target, authored, at);
  builder.world.projects.push({ ...project, primary_dashboard });
  builder.projects.add(project, project);
  const flags = new Names<FeatureFlag>("flag", builder.problems);
  for (const [key, flag] of Object.entries(authored.flags ?? {})) {
    flags.add(addFlag(target, key, flag, [...at, "flags", key]), { name: key });
  }
  const persons = addPersons(target, authored, at);
  each(authored.cohorts, [...at, "cohorts"], (it, here) => addCohort(target, persons, it, here));
  each(authored.batch_exports, [...at, "batch_exports"], (it, here) => addBatchExport(target, it, here));
  addResources(builder, project, authored, { ...boards, flags }, at);
  const own = { project: project.id };
  builder.world.product_tours.push(...(authored.product_tours ?? []).map((it) => ({ ...it, ...own })));
  builder.world.prompts.push(...(authored.prompts ?? []).map((it) => ({ version: 1, ...it, ...own })));
}

function projectOf(
  builder: WorldBuilder,
  organization: Organization,
  { api_key, secret_api_key, name, ...authored }: AuthoredProject,
  at: Path,
): StoredProject {
  const project = blankProject(
    {
      id: builder.number("projects", authored.id, at),
      uuid: builder.uuid(`project:${api_key}`, authored.uuid, [...at, "uuid"]),
      organization: organization.id,
      name,
      api_key,
      ...(secret_api_key !== undefined && { secret_api_key }),
      timezone: authored.timezone ?? "UTC",
      is_demo: authored.is_demo ?? false,
      created_at: timeOr(authored.created_at, beginning),
      settings: authored.settings ?? {},
      remote_config: authored.remote_config ?? {},
    },
    beginning,
  );
  const isNew = builder.claim("project key", project.api_key, [...at, "api_key"]);
  // a derived secret key of a repeated project key is not a second problem
  if (isNew || secret_api_key !== undefined) {
    builder.claim("secret key", project.secret_api_key, [...at, "secret_api_key"]);
  }
  return project;
}

/** Adds insights, dashboards and templates. @returns them by their names, and the id of the primary dashboard */
function addDashboards(target: Target, authored: AuthoredProject, at: Path) {
  const { problems } = target.builder;
  const insights = new Names<Insight>("insight", problems);
  each(authored.insights, [...at, "insights"], (it, here) =>
    insights.add(addInsight(target, it, here), { name: it.name }),
  );
  const dashboards = new Names<Dashboard>("dashboard", problems);
  each(authored.dashboards, [...at, "dashboards"], (it, here) => {
    const dashboard = addDashboard(target, insights, it, here);
    dashboards.add(dashboard, dashboard);
  });
  each(authored.dashboard_templates, [...at, "dashboard_templates"], (it, here) => addTemplate(target, it, here));
  const { primary_dashboard: primary } = authored;
  const found = primary === undefined ? undefined : dashboards.find(primary, [...at, "primary_dashboard"]);
  return { insights, dashboards, primary_dashboard: found?.id ?? null };
}

function addInsight({ builder, project }: Target, authored: AuthoredInsight, at: Path): Insight {
  const id = builder.number("insights", authored.id, at);
  const fields = builder.fields(insightKind, authored, at);
  const shortId = authored.short_id ?? derivedLetters(`insight:${project.api_key}/${id}`, 8);
  builder.claim(`short_id in project ${project.id}`, shortId, [...at, "short_id"]);
  const insight = insightKind.blank(
    {
      saved: true,
      ...fields,
      id,
      short_id: shortId,
      project: project.id,
      last_modified_at: fields.created_at ?? beginning,
      last_modified_by: fields.created_by ?? null,
    },
    beginning,
  );
  builder.world.insights.push(insight);
  return insight;
}

function addDashboard(target: Target, insights: Names<Insight>, authored: AuthoredDashboard, at: Path): Dashboard {
  const { builder, project } = target;
  const { tiles = [], collaborators, sharing, ...given } = authored;
  const id = builder.number("dashboards", given.id, at);
  const bare = dashboardKind.blank({ ...builder.fields(dashboardKind, given, at), id, project: project.id }, beginning);
  const dashboard: Dashboard = {
    ...bare,
    tiles: tiles.map((tile, i) => tileOf(builder, bare, insights, tile, [...at, "tiles", i])),
  };
  builder.world.dashboards.push(dashboard);
  each(collaborators, [...at, "collaborators"], (it, here) =>
    addCollaborator(builder, dashboard, it.toLowerCase(), here),
  );
  if (sharing) addSharing(target, dashboard, sharing, [...at, "sharing"]);
  return dashboard;
}

/** The tiles of a deleted dashboard are deleted too. */
function tileOf(
  builder: WorldBuilder,
  dashboard: Dashboard,
  insights: Names<Insight>,
  authored: AuthoredTile,
  at: Path,
): Tile {
  const id = builder.number("tiles", authored.id, at);
  const { deleted } = dashboard;
  if ("insight" in authored) {
    const insight = insights.find(authored.insight, [...at, "insight"]);
    return tileKind.blank({ ...authored, id, deleted, insight: insight?.id ?? null });
  }
  const text = {
    id: builder.number("texts", undefined, at),
    body: authored.text,
    created_by: dashboard.created_by,
    last_modified_by: null,
    last_modified_at: dashboard.created_at,
  };
  return tileKind.blank({ ...authored, id, deleted, text });
}

function addCollaborator(builder: WorldBuilder, { id: dashboard, created_at }: Dashboard, email: string, at: Path) {
  builder.claim(`collaborator of dashboard ${dashboard}`, email, at);
  const user = builder.users.find(email, at)?.id;
  if (user === undefined) return;
  const id = builder.uuid(`collaborator:${dashboard}/${email}`, undefined, at);
  const times = { added_at: created_at, updated_at: created_at };
  builder.world.dashboard_collaborators.push({ id, dashboard, user, level: 37, ...times });
}

function addSharing(
  { builder, project }: Target,
  dashboard: Dashboard,
  authored: NonNullable<AuthoredDashboard["sharing"]>,
  at: Path,
): void {
  const name = `sharing:${project.api_key}/${dashboard.id}`;
  const accessToken = authored.access_token ?? derivedToken(name);
  builder.claim("access token", accessToken, [...at, "access_token"]);
  builder.world.sharing_configurations.push({
    settings: null,
    password_required: false,
    ...authored,
    id: builder.uuid(name, undefined, at),
    dashboard: dashboard.id,
    created_at: dashboard.created_at,
    access_token: accessToken,
    former_tokens: [],
  });
}

function addTemplate({ builder, project }: Target, authored: AuthoredTemplate, at: Path): void {
  const name = `dashboard_template:${project.api_key}/${authored.template_name}`;
  const id = builder.uuid(name, authored.id, [...at, "id"]);
  const given = { ...authored, ...builder.fields(templateKind, authored, at), id, project: project.id };
  builder.world.dashboard_templates.push(templateKind.blank(given, beginning));
}

function addFlag({ builder, project }: Target, key: string, authored: AuthoredFlag, at: Path): FeatureFlag {
  const given = flagFields(builder, authored, at);
  const author = builder.author(undefined, at);
  const flag = blankFeatureFlag(
    {
      ...given,
      id: builder.number("feature_flags", given.id, at),
      project: project.id,
      key,
      created_by: author,
      last_modified_by: author,
    },
    beginning,
  );
  builder.world.feature_flags.push(flag);
  return flag;
}

function flagFields(builder: WorldBuilder, authored: AuthoredFlag, at: Path): Partial<FeatureFlag> {
  // off means decided as false: an inactive flag would be missing from the reply instead
  if (typeof authored === "boolean") return { filters: filtersOf({ rollout: authored ? 100 : 0 }) };
  return isServiceFlag(authored) ? serviceFlagFields(builder, authored, at) : { filters: filtersOf(authored) };
}

const isServiceFlag = (flag: ShortFlag | ServiceFlag): flag is ServiceFlag => flag.filters !== undefined;

/** Null means the default. */
function serviceFlagFields(builder: WorldBuilder, flag: ServiceFlag, at: Path): Partial<FeatureFlag> {
  const { evaluation_tags: older, evaluation_contexts: named, ...fields } = flag;
  const contexts = tidyTags(named ?? older ?? []);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...builder.fields(flagKind, given, at), ...(contexts.length > 0 && { evaluation_contexts: contexts }) };
}

function filtersOf({ rollout = 100, variants, payloads, person = {} }: ShortFlag): FeatureFlag["filters"] {
  const properties = Object.entries(person).map(([key, value]) => ({ key, value, operator: "exact", type: "person" }));
  return {
    groups: [{ properties, rollout_percentage: rollout }],
    ...(variants && {
      multivariate: { variants: Object.entries(variants).map(([key, share]) => ({ key, rollout_percentage: share })) },
    }),
    ...(payloads && {
      payloads: Object.fromEntries(Object.entries(payloads).map(([key, it]) => [key, JSON.stringify(it)])),
    }),
  };
}

/** Members may be given by their distinct ids. */
function addCohort(
  { builder, project }: Target,
  persons: Names<Person>,
  { persons: members, ...authored }: AuthoredCohort,
  at: Path,
): void {
  const uuidOf = (called: string, i: number): string =>
    isUuid(called) ? called.toLowerCase() : (persons.find(called, [...at, "persons", i])?.uuid ?? called);
  builder.world.cohorts.push({
    description: "",
    is_static: false,
    deleted: false,
    created_at: beginning,
    ...builder.fields(cohortKind, authored, at),
    ...(members && { persons: members.map(uuidOf) }),
    id: builder.number("cohorts", authored.id, at),
    project: project.id,
  });
}

/** Adds persons and groups. @returns the persons by their distinct ids */
function addPersons(target: Target, authored: AuthoredProject, at: Path): Names<Person> {
  const { builder, project } = target;
  const names = new Names<Person>("person", builder.problems);
  each(authored.persons, [...at, "persons"], (it, here) => addPerson(target, names, it, here));
  const indexes = new Map<string, number>();
  each(authored.group_types, [...at, "group_types"], (it, here) => groupType(target, indexes, it, here));
  each(authored.groups, [...at, "groups"], ({ type, key, properties = {}, created_at }, here) => {
    const index = groupType(target, indexes, type, [...here, "type"]);
    builder.claim(`${type} in project ${project.id}`, key, [...here, "key"]);
    const group = { project: project.id, type: index, key, created_at: timeOf(created_at), properties };
    builder.people.groups.push(group);
  });
  return names;
}

const timeOf = (time: string | undefined): number => Date.parse(timeOr(time, beginning));

function addPerson(
  { builder, project: { id: project } }: Target,
  names: Names<Person>,
  { distinct_ids: distinctIds, uuid, ...authored }: AuthoredPerson,
  at: Path,
): void {
  const [isFirstNew] = distinctIds.map((id, i) =>
    builder.claim(`distinct id in project ${project}`, id, [...at, "distinct_ids", i]),
  );
  const person: Person = {
    project,
    uuid: uuid?.toLowerCase() ?? personUuid(project, distinctIds[0] ?? ""),
    created_at: timeOf(authored.created_at),
    is_identified: authored.is_identified ?? false,
    version: 0,
    properties: authored.properties ?? {},
  };
  // a derived uuid of a repeated distinct id is not a second problem
  if (isFirstNew || uuid !== undefined) {
    builder.claim(`person's uuid in project ${project}`, person.uuid, [...at, "uuid"]);
  }
  builder.people.persons.push({ person, distinctIds });
  for (const id of distinctIds) names.add(person, { id });
}

/** The index of a group type; a sixth type is a problem. */
function groupType({ builder, project }: Target, indexes: Map<string, number>, name: string, at: Path): number {
  const index = indexes.get(name) ?? indexes.size;
  if (indexes.has(name)) return index;
  if (index === maxGroupTypes) builder.problems.push({ at, text: `expected at most ${maxGroupTypes} types of groups` });
  indexes.set(name, index);
  builder.people.groupTypes.push({ project: project.id, name });
  return index;
}
