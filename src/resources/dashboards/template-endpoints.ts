import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import type { DashboardTemplate } from "../../model/world.ts";
import { found } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { filtered, filterQuery, type ListFilter, searchFilter } from "../list-filters.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { projectEndpoints } from "../row.ts";
import { templatesOf } from "./templates.ts";

const TemplateShape = z
  .object({
    id: z.string(),
    template_name: z.string(),
    dashboard_description: z.string(),
    dashboard_filters: z.record(z.string(), z.json()),
    tags: z.array(z.string()),
    tiles: z.array(z.record(z.string(), z.json())),
    variables: z.array(z.json()).nullable(),
    deleted: z.literal(false),
    created_at: z.string(),
    created_by: z.null(),
    image_url: z.string().nullable(),
    team_id: z.int().nullable(),
    scope: z.enum(["global", "team"]),
  })
  .meta({ title: "DashboardTemplate" });

const scopeOf = ({ project }: DashboardTemplate) => (project === null ? "global" : "team");

const show = (template: DashboardTemplate): z.infer<typeof TemplateShape> => ({
  id: template.id,
  template_name: template.template_name,
  dashboard_description: template.dashboard_description,
  dashboard_filters: template.dashboard_filters,
  tags: template.tags,
  // Stored tiles are JSON, whatever their keys.
  tiles: template.tiles as z.infer<typeof TemplateShape>["tiles"],
  variables: template.variables,
  deleted: false,
  created_at: template.created_at,
  created_by: null,
  image_url: template.image_url,
  team_id: template.project,
  scope: scopeOf(template),
});

const filters: readonly ListFilter<DashboardTemplate>[] = [
  searchFilter("Text in the name, the description or a tag, in any case", (it) => [
    it.template_name,
    it.dashboard_description,
    ...it.tags,
  ]),
  {
    name: "scope",
    description: "Only templates for all projects, or only the project's own",
    schema: { type: "string", enum: ["global", "team"] },
    test:
      ([value]) =>
      (it) =>
        scopeOf(it) === value,
  },
];

/** Templates that dashboards can be made after. Writing them is for the service's staff. */
export const dashboardTemplateEndpoints = (desk: ResourceDesk): Endpoint[] => [
  ...projectEndpoints(desk, {
    methods: ["GET"],
    path: "/dashboard_templates",
    summary: "Templates for dashboards: built-in ones, and the project's own",
    scope: "dashboard_template:read",
    query: [...pageQuery, ...filterQuery(filters)],
    reply: pageSchema(TemplateShape),
    handle: ({ call, caller, project }) =>
      pageOf(call, filtered(call, caller, filters, templatesOf(desk, project.id)), show),
  }),
  ...projectEndpoints(desk, {
    methods: ["GET"],
    path: "/dashboard_templates/:id",
    summary: "A template for dashboards",
    scope: "dashboard_template:read",
    reply: TemplateShape,
    handle: ({ param, project }) =>
      show(found(templatesOf(desk, project.id).find(({ id }) => id === param("id").toLowerCase()))),
  }),
];
