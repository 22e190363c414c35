import { z } from "zod";
import { isObject, type Json } from "../../../kernel/base/json.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { templateKind } from "../../../state/documents/schemas/dashboard.ts";
import { tidyTags } from "../../../state/documents/tags.ts";
import type { Dashboard, DashboardTemplate, Tile } from "../../../state/documents/world.ts";
import { found } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { shownAs } from "../../api-frame/fields.ts";
import { equalFilter, type ListFilter, searchFilter } from "../../api-frame/lists.ts";
import { listRow } from "../../api-frame/resource.ts";
import { inProject, managementRow, projectRoot } from "../../api-frame/row.ts";
import { type Maker, makeInsight } from "../insights/insight-views.ts";
import { productAnalytics, websiteTraffic } from "./built-in-templates.ts";
import { makeText, makeTile } from "./tiles.ts";

export type TemplateContent = Pick<
  DashboardTemplate,
  "template_name" | "dashboard_description" | "dashboard_filters" | "tags" | "tiles"
>;

/** Names of templates that the service does not store. */
const hardWired = new Map([
  ["DEFAULT_APP", productAnalytics],
  ["WEBSITE_TRAFFIC", websiteTraffic],
]);

/** Templates that a project may choose from: those for all, then its own. */
function templatesOf({ worlds }: ResourceDesk, project: number): DashboardTemplate[] {
  const stored = worlds.current.dashboard_templates.filter((it) => it.project === null || it.project === project);
  const isReplaced = stored.some((it) => it.template_name === productAnalytics.template_name);
  return isReplaced ? stored : [productAnalytics, ...stored];
}

/** The template that `use_template` names. */
export const templateNamed = (desk: ResourceDesk, project: number, name: string): DashboardTemplate | undefined =>
  hardWired.get(name) ?? templatesOf(desk, project).find((it) => it.template_name === name);

type TemplateTile = DashboardTemplate["tiles"][number];

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === "string" ? value : otherwise);
const objectOr = (value: unknown) => (isObject(value) ? value : {});

const lookOf = (tile: TemplateTile): Partial<Tile> => ({
  layouts: objectOr(tile.layouts),
  color: textOr(tile.color, null),
});

/** How each kind of tile is made; kinds that are not here are passed over. */
const makers: Readonly<Record<string, (maker: Maker, tile: TemplateTile) => Tile>> = {
  INSIGHT(maker, tile) {
    // Templates are JSON: stored documents and bodies.
    const query: Json = isObject(tile.query) ? tile.query : null;
    const insight = makeInsight(maker, {
      name: textOr(tile.name, null),
      description: textOr(tile.description, null),
      query,
      filters: query === null ? objectOr(tile.filters) : {},
    });
    return makeTile(maker, { ...lookOf(tile), insight: insight.id });
  },
  TEXT: (maker, tile) => makeTile(maker, { ...lookOf(tile), text: makeText(maker, textOr(tile.body, "")) }),
};

/**
 * The dashboard with what a template has: filters and description are replaced, tags and tiles join; the name
 * counts only when there is none yet. Upstream PostHog/posthog posthog/helpers/dashboard_templates.py.
 */
export function withTemplate(maker: Maker, dashboard: Dashboard, template: TemplateContent): Dashboard {
  const tiles = template.tiles.flatMap((tile) => {
    const make = Object.hasOwn(makers, tile.type) ? makers[tile.type] : undefined;
    return make ? [make(maker, tile)] : [];
  });
  return {
    ...dashboard,
    name: dashboard.name || template.template_name,
    description: template.dashboard_description,
    filters: template.dashboard_filters,
    tags: tidyTags([...dashboard.tags, ...template.tags]),
    tiles: [...dashboard.tiles, ...tiles],
  };
}

const TemplateShape = templateKind.Shown.meta({ title: "DashboardTemplate" });

const scopeOf = ({ project }: DashboardTemplate) => (project === null ? "global" : "team");

const show = (template: DashboardTemplate): z.infer<typeof TemplateShape> =>
  shownAs(TemplateShape, {
    ...template,
    // Stored tiles are JSON, whatever their keys.
    tiles: template.tiles as z.infer<typeof TemplateShape>["tiles"],
    team_id: template.project,
    scope: scopeOf(template),
  });

const filters: readonly ListFilter<DashboardTemplate>[] = [
  searchFilter("Text in the name, the description or a tag, in any case", (it) => [
    it.template_name,
    it.dashboard_description,
    ...it.tags,
  ]),
  equalFilter(
    "scope",
    z.enum(["global", "team"]).describe("Only templates for all projects, or only the project's own"),
    scopeOf,
  ),
];

const path = `${projectRoot}/dashboard_templates`;

/** Templates that dashboards can be made after. Writing them is for the service's staff. */
export const dashboardTemplateEndpoints = (desk: ResourceDesk): Endpoint[] => [
  ...listRow(desk, {
    path,
    summary: "Templates for dashboards: built-in ones, and the project's own",
    access: inProject("dashboard_template:read"),
    filters,
    item: TemplateShape,
    all: ({ project }) => templatesOf(desk, project.id),
    show,
  }),
  ...managementRow(desk, {
    method: "GET",
    path: `${path}/:id`,
    summary: "A template for dashboards",
    access: inProject("dashboard_template:read"),
    reply: TemplateShape,
    handle: ({ param, project }) =>
      show(found(templatesOf(desk, project.id).find(({ id }) => id === param("id").toLowerCase()))),
  }),
];
