import { SimError } from "../../../kernel/base/errors.ts";
import { type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { queryToken } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { listsOwner } from "../../../state/documents/project-documents.ts";
import { liveResources } from "../../../state/documents/resources.ts";
import type { ReadonlyWorld, StoredProject, StoredResource, World } from "../../../state/documents/world.ts";
import type { Desk } from "../desk.ts";
import { answered, privateProject, projectOfToken, serviceRow } from "./requests.ts";

type Owned = World["product_tours"][number];

const ownedBy = (rows: readonly Owned[], project: StoredProject): object[] =>
  rows
    .filter((row) => row.project === listsOwner(project))
    .map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => key !== "project")));

const surveyConfig = (project: StoredProject): unknown => own(project.remote_config, "survey_config") ?? null;

/** The key of a flag, by the name of the field for SDKs; absent without a flag, as in the service. */
function flagKey(world: ReadonlyWorld, name: string, id: Json | undefined): JsonObject {
  const flag = typeof id === "number" ? world.feature_flags.find((it) => it.id === id) : undefined;
  return flag ? { [name]: flag.key } : {};
}

/** Fields of a kind that SDKs do not get. */
const managed: Readonly<Record<string, RegExp>> = {
  surveys:
    /^(?:created_|description$|archived|.*_(?:flag|insight)_id$|responses_limit$|iteration_|response_sampling_|enable_iframe_embedding$|form_content$)/,
  early_access_features: /^(?:created_|feature_flag_id$|documentation_url$)/,
  // the service shows these five
  experiments: /^(?!(?:id|name|created_at|feature_flag_key|variants)$)/,
};

/** A document as SDKs get it: what a scenario gave, and the keys of its flags. */
function forSdks({ kind, key, fields }: StoredResource, flags: JsonObject, others: JsonObject = {}): JsonObject {
  const hidden = managed[kind];
  const shown = Object.entries(fields).filter(([name, value]) => !hidden?.test(name) && value !== undefined);
  return { id: key, ...Object.fromEntries(shown), ...others, ...flags };
}

/** Upstream PostHog/posthog products/surveys/backend/api/survey.py, SurveyAPISerializer. */
export const showSurvey = (world: ReadonlyWorld, survey: StoredResource): JsonObject =>
  forSdks(survey, {
    ...flagKey(world, "linked_flag_key", survey.fields.linked_flag_id),
    ...flagKey(world, "targeting_flag_key", survey.fields.targeting_flag_id),
    ...flagKey(world, "internal_targeting_flag_key", survey.fields.internal_targeting_flag_id),
  });

/** Upstream PostHog/posthog products/early_access_features/backend/api.py, MinimalEarlyAccessFeatureSerializer. */
export function showFeature(world: ReadonlyWorld, feature: StoredResource): JsonObject {
  const { documentation_url: url, feature_flag_id } = feature.fields;
  return forSdks(
    feature,
    flagKey(world, "flagKey", feature_flag_id),
    url === undefined ? {} : { documentationUrl: url },
  );
}

/** `?stage=` may be repeated; without it only betas are listed. */
function isInStage(call: Call, { fields: { stage } }: StoredResource): boolean {
  const asked = call.query.getAll("stage");
  return (asked.length > 0 ? asked : ["beta"]).includes(typeof stage === "string" ? stage : "beta");
}

const isArchived = ({ fields }: StoredResource): boolean => fields.archived === true;

interface Row {
  path: string;
  summary: string;
  show(world: ReadonlyWorld, project: StoredProject, call: Call): object;
}

/** For browsers with the public key. Upstream posthog/api/survey.py, early_access_feature.py, web_experiment.py. */
const rows: readonly Row[] = [
  {
    path: "/api/surveys",
    summary: "Surveys of a project, without the archived ones",
    show: (world, project) => ({
      surveys: liveResources(world, "surveys", project.id)
        .filter((it) => !isArchived(it))
        .map((it) => showSurvey(world, it)),
      survey_config: surveyConfig(project),
    }),
  },
  {
    path: "/api/early_access_features",
    summary: "Early access features of a project, by stage",
    show: (world, project, call) => ({
      earlyAccessFeatures: liveResources(world, "early_access_features", project.id)
        .filter((it) => isInStage(call, it))
        .map((it) => showFeature(world, it)),
    }),
  },
  {
    path: "/api/product_tours",
    summary: "Product tours of a project",
    show: (world, project) => ({ product_tours: ownedBy(world.product_tours, project) }),
  },
  {
    path: "/api/web_experiments",
    summary: "Web experiments of a project",
    show: (world, project) => ({
      experiments: liveResources(world, "experiments", project.id)
        .filter((it) => it.fields.type === "web" && !isArchived(it))
        .map((it) => forSdks(it, flagKey(world, "feature_flag_key", it.fields.feature_flag_id))),
    }),
  },
];

export const publicListEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(({ path, summary, show }) =>
    serviceRow(path, summary, (call) => {
      const project = projectOfToken(desk, call, queryToken(call));
      return answered(show(desk.worlds.current, project, call));
    }),
  );

type Prompt = World["prompts"][number];

const promptScope = "llm_prompt:read";

const byVersion = (a: Prompt, b: Prompt): number => b.version - a.version;

/** Newest first. */
const promptsOf = (desk: Desk, project: StoredProject): Prompt[] =>
  desk.worlds.current.prompts.filter((prompt) => prompt.project === listsOwner(project)).toSorted(byVersion);

/** An absent `label` stays absent: @posthog/ai refuses null. */
const showPrompt = ({ name, prompt, version, label }: Prompt) => ({
  name,
  prompt,
  version,
  ...(label !== undefined && { label }),
});

/** `?version=` and `?label=` narrow; without them the newest version is meant. */
function chosen(call: Call, prompts: readonly Prompt[]): Prompt {
  const version = call.query.get("version");
  const label = call.query.get("label");
  const found = prompts.find(
    (prompt) =>
      prompt.name === call.params.name &&
      (!version || prompt.version === Number(version)) &&
      (!label || prompt.label === label),
  );
  if (!found) throw new SimError("not_found", "Not found.");
  return found;
}

/** The newest version of each name. */
const latest = (prompts: readonly Prompt[]): Prompt[] => {
  const names = new Map<string, Prompt>();
  for (const prompt of prompts) if (!names.has(prompt.name)) names.set(prompt.name, prompt);
  return [...names.values()];
};

function list(desk: Desk, project: StoredProject) {
  const results = latest(promptsOf(desk, project)).map(showPrompt);
  return { count: results.length, next: null, previous: null, results };
}

type Show = (call: Call, desk: Desk, project: StoredProject) => object;

const promptRows: readonly (readonly [tail: string, show: Show, summary: string])[] = [
  ["", (_call, desk, project) => list(desk, project), "Prompts of a project, newest versions"],
  [
    "/name/:name",
    (call, desk, project) => showPrompt(chosen(call, promptsOf(desk, project))),
    "A prompt by name, version or label",
  ],
];

export const promptEndpoints = (desk: Desk): Endpoint[] =>
  ["environments", "projects"].flatMap((parent) =>
    promptRows.map(([tail, show, summary]) => ({
      ...serviceRow(`/api/${parent}/:project_id/llm_prompts${tail}`, summary, (call) =>
        answered(show(call, desk, privateProject(call, desk, promptScope))),
      ),
      scope: promptScope,
    })),
  );
