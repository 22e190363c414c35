import { dashboardKind, insightKind, tileKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { Dashboard, Tile, World } from "../../../src/state/documents/world.ts";
import { startedAt, twoOrganizations, uuidOf } from "./world.ts";

const layout = (x: number, y: number) => ({ layouts: { sm: { x, y, w: 6, h: 5 } } });

const insightTile = (id: number, insight: number, more: Partial<Tile> = {}): Tile =>
  tileKind.blank({ id, insight, ...more });

const textTile = (id: number, text: number, body: string, more: Partial<Tile> = {}): Tile =>
  tileKind.blank({
    id,
    text: { id: text, body, created_by: 1, last_modified_by: null, last_modified_at: startedAt },
    ...more,
  });

const dashboards: (Pick<Dashboard, "id" | "project"> & Partial<Dashboard>)[] = [
  {
    id: 10,
    project: 1,
    name: "Main",
    description: "What matters",
    created_by: 1,
    filters: { date_from: "-7d" },
    tiles: [
      textTile(100, 200, "## Notes", layout(0, 5)),
      insightTile(101, 300, layout(6, 0)),
      insightTile(102, 301, layout(0, 0)),
    ],
  },
  {
    id: 11,
    project: 1,
    name: "Restricted",
    created_by: 1,
    restriction_level: 37,
    tiles: [insightTile(110, 302), textTile(111, 201, "Secret")],
  },
  { id: 12, project: 1, name: "alpha", pinned: true, created_by: 2, tags: ["growth", "web"] },
  { id: 13, project: 1, name: "Gone", created_by: 1, deleted: true, tiles: [insightTile(130, 303, { deleted: true })] },
  { id: 14, project: 1, name: "Hidden", creation_mode: "unlisted" },
  { id: 15, project: 1, tags: ["growth"] },
  { id: 16, project: 1, name: "Generated Dashboard: beta", created_by: 3, restriction_level: 37 },
  { id: 20, project: 2, name: "Other project", tiles: [textTile(210, 202, "Elsewhere")] },
  { id: 30, project: 3, name: "Globex board" },
];

const insights = [
  { id: 300, project: 1, name: "Signups", saved: true, tags: ["growth"], description: "New people" },
  { id: 301, project: 1, name: "Retention", favorited: true, created_by: 3 },
  { id: 302, project: 1, name: "Revenue", derived_name: "Sum of money" },
  { id: 303, project: 1, name: "Old", deleted: true },
  { id: 304, project: 1, name: null, last_modified_at: "2026-02-01T00:00:00Z" },
  { id: 310, project: 2, name: "Signups elsewhere" },
  { id: 320, project: 3, name: "Globex insight" },
].map((it) => ({ created_by: 1, ...it, short_id: `short${it.id}` }));

/** Acme's project 1 with dashboards 10–16 and insights 300–304; cleo collaborates on 11. */
export function withBoards(): World {
  const world = twoOrganizations();
  world.dashboards = dashboards.map((it) => dashboardKind.blank(it, startedAt));
  world.insights = insights.map((it) => insightKind.blank(it, startedAt));
  world.dashboard_collaborators = [
    { id: uuidOf("cleo on 11"), dashboard: 11, user: 3, level: 37, added_at: startedAt, updated_at: startedAt },
  ];
  world.sharing_configurations = [
    {
      id: uuidOf("sharing of 12"),
      dashboard: 12,
      created_at: startedAt,
      enabled: true,
      access_token: "token-of-12",
      settings: null,
      password_required: false,
      former_tokens: [],
    },
  ];
  world.dashboard_templates = [
    {
      id: uuidOf("template of 1"),
      project: 1,
      template_name: "Team template",
      dashboard_description: "From the team",
      dashboard_filters: { date_from: "-14d" },
      tags: ["Team"],
      variables: null,
      tiles: [
        { type: "TEXT", body: "Hello", layouts: { sm: { x: 0, y: 0 } }, color: "blue" },
        { type: "INSIGHT", name: "One", description: "First", filters: { insight: "TRENDS" } },
        { type: "HOLOGRAM", name: "Not known" },
        { type: "constructor" },
      ],
      image_url: null,
      created_at: startedAt,
    },
    {
      id: uuidOf("template of 2"),
      project: 2,
      template_name: "Elsewhere template",
      dashboard_description: "",
      dashboard_filters: {},
      tags: [],
      variables: null,
      tiles: [{ type: "TEXT", body: "Secret" }],
      image_url: null,
      created_at: startedAt,
    },
  ];
  return world;
}

export const boardsUrl = "/api/projects/1/dashboards";
