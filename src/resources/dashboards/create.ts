import type { z } from "zod";
import { blankDashboard } from "../../model/blank.ts";
import type { Dashboard, DashboardTemplate } from "../../model/world.ts";
import type { Maker } from "../insights/make.ts";
import { invalid } from "../invalid.ts";
import type { DashboardDesk, DashboardRequest } from "./desk.ts";
import { changesIn, type DashboardFields, type NewDashboard, refuseTwoModels } from "./fields.ts";
import { templateNamed, withTemplate } from "./templates.ts";
import { copyTile, linkTile } from "./tiles.ts";

/** What a new dashboard is made after. */
interface Model {
  mode: Dashboard["creation_mode"];
  template?: DashboardTemplate;
  source?: Dashboard;
}

/** @throws SimError invalid_input when there is no such template or dashboard */
function modelOf(desk: DashboardDesk, project: number, fields: DashboardFields): Model {
  const { use_template, use_dashboard } = fields;
  if (use_template) {
    const template = templateNamed(desk, project, use_template);
    if (!template) throw invalid(`Invalid template provided: ${use_template}`, "use_template");
    return { mode: "template", template };
  }
  if (!use_dashboard) return { mode: "default" };
  const source = desk.worlds.get("dashboards", use_dashboard);
  if (!source || source.deleted || source.project !== project) {
    throw invalid("Invalid value provided", "use_dashboard");
  }
  return { mode: "duplicate", source };
}

/** What a duplicate takes over, unless the body says otherwise. */
const heritage = ({ filters, variables, breakdown_colors, data_color_theme_id }: Dashboard) => ({
  filters,
  variables,
  breakdown_colors,
  data_color_theme_id,
});

/** @param isDeep Copies insights and texts, instead of showing the same ones. */
const duplicatedTiles = (desk: DashboardDesk, maker: Maker, source: Dashboard, isDeep: boolean) =>
  source.tiles
    .filter((tile) => !tile.deleted)
    .map((tile) =>
      isDeep
        ? copyTile(maker, tile, tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight))
        : linkTile(maker, tile),
    );

/** An empty dashboard of the maker. */
export const emptyDashboard = (
  { draft, project, user, now }: Maker,
  changes: Partial<Dashboard>,
): Dashboard =>
  blankDashboard({ created_by: user, ...changes, id: draft.nextId("dashboards"), project }, now);

/**
 * POST: an empty dashboard, one after a template, or a duplicate.
 * @throws SimError invalid_input
 */
export function createDashboard(
  desk: DashboardDesk,
  request: DashboardRequest<unknown>,
  fields: z.infer<typeof NewDashboard>,
): Dashboard {
  refuseTwoModels(fields);
  const changes = changesIn(fields);
  const { mode, template, source } = modelOf(desk, request.project.id, fields);
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const bare = emptyDashboard(maker, {
      ...(source && heritage(source)),
      ...changes,
      creation_mode: mode,
      deleted: fields.deleted ?? false,
    });
    const tiles = source ? duplicatedTiles(desk, maker, source, fields.duplicate_tiles ?? false) : [];
    const made = template ? withTemplate(maker, bare, template) : { ...bare, tiles };
    // Tags in the body replace the template's.
    return draft.put("dashboards", { ...made, ...(changes.tags && { tags: changes.tags }) });
  });
}
