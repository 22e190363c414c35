import type { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { type ProjectRow, projectEndpoints } from "../row.ts";
import type { DashboardDesk } from "./desk.ts";
import { DashboardDetail } from "./show.ts";
import { TileShape } from "./show-tiles.ts";
import {
  ChangedTextTile,
  CopiedTile,
  copyTileHere,
  createTextTile,
  DeletedTile,
  deleteTile,
  MovedTile,
  moveTile,
  NewTextTile,
  reorderTiles,
  TileOrder,
  updateTextTile,
} from "./tile-actions.ts";

const writes = { scope: "dashboard:write" } as const;
const action = (name: string) => `/dashboards/:id/${name}`;

/** What one can do with single tiles. The contract has only move_tile. */
export const tileEndpoints = (desk: DashboardDesk): Endpoint[] => [
  ...moving(desk),
  ...arranging(desk),
  ...texts(desk),
  ...projectEndpoints(desk, {
    methods: ["POST"],
    path: action("delete_tile"),
    summary: "Take a tile off its dashboard",
    ...writes,
    status: 204,
    body: DeletedTile,
    handle(request) {
      deleteTile(desk, request);
      return undefined;
    },
  }),
];

function moving(desk: DashboardDesk): Endpoint[] {
  const isShown = desk.dialect === "production";
  const row: Omit<ProjectRow<z.infer<typeof MovedTile>>, "methods"> = {
    path: action("move_tile"),
    summary: "Move a tile to another dashboard",
    ...writes,
    body: MovedTile,
    ...(isShown && { reply: DashboardDetail }),
    handle(request) {
      const source = moveTile(desk, request);
      return isShown ? desk.views.inDetail(source, request) : undefined;
    },
  };
  const contract = "PATCH /api/projects/:project_id/dashboards/:id/move_tile";
  return [
    ...projectEndpoints(desk, { ...row, methods: ["PATCH"], contract }),
    ...projectEndpoints(desk, { ...row, methods: ["POST"] }),
  ];
}

const arranging = (desk: DashboardDesk): Endpoint[] => [
  ...projectEndpoints(desk, {
    methods: ["POST"],
    path: action("copy_tile"),
    summary: "Show a tile of another dashboard on this one, too",
    ...writes,
    body: CopiedTile,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(copyTileHere(desk, request), request),
  }),
  ...projectEndpoints(desk, {
    methods: ["POST"],
    path: action("reorder_tiles"),
    summary: "Lay tiles out in another order",
    ...writes,
    body: TileOrder,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(reorderTiles(desk, request), request),
  }),
];

const texts = (desk: DashboardDesk): Endpoint[] => [
  ...projectEndpoints(desk, {
    methods: ["POST"],
    path: action("create_text_tile"),
    summary: "Add a text to a dashboard",
    ...writes,
    status: 201,
    body: NewTextTile,
    reply: TileShape,
    handle(request) {
      const { dashboard, tile } = createTextTile(desk, request);
      return desk.views.tile(dashboard, tile, request);
    },
  }),
  ...projectEndpoints(desk, {
    methods: ["POST"],
    path: action("update_text_tile"),
    summary: "Change a text on a dashboard",
    ...writes,
    body: ChangedTextTile,
    reply: TileShape,
    handle(request) {
      const { dashboard, tile } = updateTextTile(desk, request);
      return desk.views.tile(dashboard, tile, request);
    },
  }),
];
