import type { Call } from "../../http/call.ts";
import { queryToken } from "../../http/credentials.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { own } from "../../kernel/json.ts";
import type { Desk } from "../../model/desk.ts";
import { listsOwner } from "../../model/public-lists.ts";
import type { Project, ReadonlyWorld, World } from "../../model/world.ts";
import { answered } from "./answer.ts";
import { projectOfToken } from "./keys.ts";

type Owned = World["surveys"][number];

/** The project's documents without the key that says whose they are. */
const ownedBy = (rows: readonly Owned[], project: Project): object[] =>
  rows
    .filter((row) => row.project === listsOwner(project))
    .map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => key !== "project")));

const isArchived = (row: Owned): boolean => row.archived === true;

/** `?stage=` may be repeated; without it only betas are listed. */
function inStages(call: Call, rows: readonly Owned[]): Owned[] {
  const asked = call.query.getAll("stage");
  const stages = new Set(asked.length > 0 ? asked : ["beta"]);
  return rows.filter((row) => stages.has(typeof row.stage === "string" ? row.stage : "beta"));
}

const surveyConfig = (project: Project): unknown => own(project.remote_config, "survey_config") ?? null;

interface Row {
  path: string;
  summary: string;
  show(world: ReadonlyWorld, project: Project, call: Call): object;
}

/**
 * The lists that browsers fetch with the public project key.
 * Upstream: PostHog/posthog posthog/api/survey.py, early_access_feature.py, web_experiment.py.
 */
const rows: readonly Row[] = [
  {
    path: "/api/surveys",
    summary: "Surveys of a project, without the archived ones",
    show: (world, project) => ({
      surveys: ownedBy(
        world.surveys.filter((survey) => !isArchived(survey)),
        project,
      ),
      survey_config: surveyConfig(project),
    }),
  },
  {
    path: "/api/early_access_features",
    summary: "Early access features of a project, by stage",
    show: (world, project, call) => ({
      earlyAccessFeatures: ownedBy(inStages(call, world.early_access_features), project),
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
    show: (world, project) => ({ experiments: ownedBy(world.web_experiments, project) }),
  },
];

/** GET /api/surveys/?token= and its likes. */
export const publicListEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(({ path, summary, show }) => ({
    methods: ["GET"],
    path,
    family: "service",
    summary,
    handle(call) {
      const project = projectOfToken(desk, call, queryToken(call));
      return answered(show(desk.worlds.current, project, call), project);
    },
  }));
