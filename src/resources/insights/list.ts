import type { Insight } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import {
  authorFilter,
  isTrue,
  jsonList,
  type ListFilter,
  searchFilter,
  tagsFilter,
} from "../list-filters.ts";
import { compareText, sortedByProject } from "../sorted.ts";
import type { InsightPlaces } from "./on-dashboards.ts";

/** The last to be changed first. */
const compare = (a: Insight, b: Insight): number =>
  compareText(b.last_modified_at, a.last_modified_at) || b.id - a.id;

/** Insights of a project that are not deleted, in the order of the list. */
export const openInsightList = ({ worlds }: ResourceDesk) =>
  sortedByProject(worlds, "insights", { compare, has: ({ deleted }) => !deleted });

/** Filters of the list. Upstream PostHog/posthog posthog/api/insight.py, `_filter_request`. */
export const insightFilters = (places: InsightPlaces): readonly ListFilter<Insight>[] => [
  searchFilter("Text in a name, the description or a tag, in any case", (it) => [
    it.name,
    it.derived_name,
    it.description,
    ...it.tags,
  ]),
  tagsFilter,
  authorFilter,
  {
    name: "short_id",
    description: "Only the insight with this short id",
    schema: { type: "string" },
    test:
      ([value]) =>
      ({ short_id }) =>
        short_id === value,
  },
  {
    name: "saved",
    description: "True: only those that are saved or on a dashboard; else only those that are not saved",
    schema: { type: "boolean" },
    test: ([value]) =>
      isTrue(value) ? ({ id, saved }) => saved || places(id).length > 0 : ({ saved }) => !saved,
  },
  {
    name: "favorited",
    description: "Only favourites, whatever the value",
    schema: { type: "boolean" },
    test:
      () =>
      ({ favorited }) =>
        favorited,
  },
  {
    name: "user",
    description: "Only the caller's, whatever the value",
    schema: { type: "boolean" },
    test:
      (_, { user }) =>
      ({ created_by }) =>
        created_by === user.id,
  },
  {
    name: "dashboards",
    description: "Only those that are on all of these dashboards: a JSON array of ids",
    schema: { type: "string" },
    test([value = ""]) {
      const wanted = jsonList(value)?.map(Number);
      if (!wanted) return undefined;
      return (insight) => {
        const on = places(insight.id).map(({ dashboard }) => dashboard.id);
        return wanted.every((id) => on.includes(id));
      };
    },
  },
];
