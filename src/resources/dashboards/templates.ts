import { isObject, type Json } from "../../kernel/json.ts";
import { tidyTags } from "../../model/tags.ts";
import type { Dashboard, DashboardTemplate, Tile } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { type Maker, makeInsight } from "../insights/make.ts";
import { productAnalytics, websiteTraffic } from "./built-in-templates.ts";
import { makeText, makeTile } from "./tiles.ts";

/** What a dashboard takes over from a template. */
export type TemplateContent = Pick<
  DashboardTemplate,
  "template_name" | "dashboard_description" | "dashboard_filters" | "tags" | "tiles"
>;

/** Names that the service knows without a stored template. */
const hardWired = new Map([
  ["DEFAULT_APP", productAnalytics],
  ["WEBSITE_TRAFFIC", websiteTraffic],
]);

/** Templates that a project may choose from: those for all, then its own. */
export function templatesOf({ worlds }: ResourceDesk, project: number): DashboardTemplate[] {
  const stored = worlds.current.dashboard_templates.filter(
    (it) => it.project === null || it.project === project,
  );
  const isReplaced = stored.some((it) => it.template_name === productAnalytics.template_name);
  return isReplaced ? stored : [productAnalytics, ...stored];
}

/** The template that `use_template` names. */
export const templateNamed = (
  desk: ResourceDesk,
  project: number,
  name: string,
): DashboardTemplate | undefined =>
  hardWired.get(name) ?? templatesOf(desk, project).find((it) => it.template_name === name);

type TemplateTile = DashboardTemplate["tiles"][number];

const textOr = <T>(value: unknown, otherwise: T): string | T =>
  typeof value === "string" ? value : otherwise;
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
