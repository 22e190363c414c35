import { uuidV5 } from "../../../kernel/base/ids.ts";
import type { JsonObject } from "../../../kernel/base/json.ts";
import type { DashboardTemplate } from "../../../state/documents/world.ts";

/** Templates that every project has. Names and number of tiles follow the service; the queries are ours. */

interface InsightTile {
  name: string;
  description: string;
  source: JsonObject;
  /** Place in a grid of 12 columns: x, y, w, h. */
  at: readonly [number, number, number, number];
}

const pageview = (math: string, more: JsonObject = {}): JsonObject => ({
  kind: "EventsNode",
  event: "$pageview",
  name: "$pageview",
  math,
  ...more,
});

const trends = (series: JsonObject[], more: JsonObject = {}): JsonObject => ({
  kind: "TrendsQuery",
  series,
  interval: "day",
  dateRange: { date_from: "-30d" },
  ...more,
});

const bar = { trendsFilter: { display: "ActionsBarValue" } };
const total = { trendsFilter: { display: "BoldNumber" } };
const by = (breakdown: string): JsonObject => ({ breakdownFilter: { breakdown, breakdown_type: "event" } });

const fromSearch: JsonObject = {
  properties: [{ key: "$referring_domain", value: "google|bing|duckduckgo", operator: "regex", type: "event" }],
};

const showTile = ({ name, description, source, at: [x, y, w, h] }: InsightTile) => ({
  type: "INSIGHT",
  name,
  description,
  query: { kind: "InsightVizNode", source },
  layouts: { sm: { x, y, w, h, minW: 3, minH: 3 }, xs: { x: 0, y: y * 2 + x, w: 1, h } },
  color: null,
});

const productTiles: readonly InsightTile[] = [
  {
    name: "Daily active users (DAUs)",
    description: "How many people came on each day.",
    source: trends([pageview("dau")]),
    at: [0, 0, 6, 5],
  },
  {
    name: "Weekly active users (WAUs)",
    description: "How many people came in each week.",
    source: trends([pageview("dau")], { interval: "week", dateRange: { date_from: "-90d" } }),
    at: [6, 0, 6, 5],
  },
  {
    name: "Retention",
    description: "How many people come back in the weeks after their first one.",
    source: {
      kind: "RetentionQuery",
      retentionFilter: {
        period: "Week",
        totalIntervals: 11,
        retentionType: "retention_first_time",
        targetEntity: { id: "$pageview", type: "events" },
        returningEntity: { id: "$pageview", type: "events" },
      },
    },
    at: [0, 5, 6, 5],
  },
  {
    name: "Growth accounting",
    description: "Who is new, who came back, who woke up and who fell asleep, week by week.",
    source: { kind: "LifecycleQuery", series: [pageview("total")], interval: "week", dateRange: { date_from: "-30d" } },
    at: [6, 5, 6, 5],
  },
  {
    name: "Referring domain (last 14 days)",
    description: "Where visitors came from.",
    source: trends([pageview("dau")], { dateRange: { date_from: "-14d" }, ...bar, ...by("$referring_domain") }),
    at: [0, 10, 6, 5],
  },
  {
    name: "Pageview funnel, by browser",
    description: "How many people see a second and a third page.",
    source: {
      kind: "FunnelsQuery",
      series: [pageview("total"), pageview("total"), pageview("total")],
      dateRange: { date_from: "-7d" },
      ...by("$browser"),
    },
    at: [6, 10, 6, 5],
  },
];

const websiteTiles: readonly InsightTile[] = [
  {
    name: "Website visitors (total)",
    description: "How many people visited.",
    source: trends([pageview("dau")], total),
    at: [0, 0, 3, 3],
  },
  {
    name: "Visitors from search engines (total)",
    description: "How many people came from a search engine.",
    source: trends([pageview("dau", fromSearch)], total),
    at: [3, 0, 3, 3],
  },
  {
    name: "Website visitors (by day)",
    description: "How many people visited on each day.",
    source: trends([pageview("dau")]),
    at: [6, 0, 6, 5],
  },
  {
    name: "Visitors from search engines (by day)",
    description: "How many people came from a search engine on each day.",
    source: trends([pageview("dau", fromSearch)]),
    at: [0, 3, 6, 5],
  },
  {
    name: "Sessions per visitor",
    description: "How often a visitor comes.",
    source: trends([pageview("unique_session"), pageview("dau")], { trendsFilter: { formula: "A/B" } }),
    at: [6, 5, 6, 5],
  },
  {
    name: "Pages per visitor",
    description: "How many pages a visitor looks at.",
    source: trends([pageview("total"), pageview("dau")], { trendsFilter: { formula: "A/B" } }),
    at: [0, 8, 6, 5],
  },
  {
    name: "Most visited pages",
    description: "Pages by their number of visitors.",
    source: trends([pageview("dau")], { ...bar, ...by("$pathname") }),
    at: [6, 10, 6, 5],
  },
  {
    name: "Most visited pages from search engines",
    description: "Pages by their number of visitors from search engines.",
    source: trends([pageview("dau", fromSearch)], { ...bar, ...by("$pathname") }),
    at: [0, 13, 6, 5],
  },
  {
    name: "Visitors by country",
    description: "Where visitors are.",
    source: trends([pageview("dau")], { trendsFilter: { display: "WorldMap" }, ...by("$geoip_country_code") }),
    at: [6, 15, 6, 5],
  },
];

const namespace = "5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01";

function builtIn(template_name: string, tiles: readonly InsightTile[]): DashboardTemplate {
  return {
    id: uuidV5(namespace, `built-in template:${template_name}`),
    project: null,
    template_name,
    dashboard_description: "",
    dashboard_filters: {},
    tags: [],
    variables: null,
    tiles: tiles.map(showTile),
    image_url: null,
    created_at: "2025-01-01T00:00:00Z",
  };
}

/** In every list of templates. */
export const productAnalytics: DashboardTemplate = {
  ...builtIn("Product analytics", productTiles),
  dashboard_description: "Who uses the product, how often, and where they came from.",
  tags: ["popular"],
};

/** In no list, as at the service: one has to know its key. */
export const websiteTraffic: DashboardTemplate = {
  ...builtIn("Website traffic", websiteTiles),
  dashboard_description: "Who visits the website, from where, and what they look at.",
  dashboard_filters: { date_from: "-30d" },
  tags: ["marketing"],
};
