import type { Dashboard } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { authorFilter, isTrue, type ListFilter, searchFilter, tagsFilter } from "../list-filters.ts";
import { compareText, sortedByProject } from "../sorted.ts";

/** Pinned ones first, then by name; those without a name last, as in the service's database. */
function compare(a: Dashboard, b: Dashboard): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.name === null || b.name === null) {
    return Number(a.name === null) - Number(b.name === null) || a.id - b.id;
  }
  return compareText(a.name, b.name) || a.id - b.id;
}

/** Dashboards of a project that are not deleted, in the order of the list. */
export const openDashboardList = ({ worlds }: ResourceDesk) =>
  sortedByProject(worlds, "dashboards", { compare, has: ({ deleted }) => !deleted });

/** How the service names the dashboards that it makes for feature flags. */
const generatedPrefix = "Generated Dashboard";

const truth = { type: "boolean" };

/** Filters of the list. Upstream PostHog/posthog posthog/api/dashboards/dashboard.py; `pinned` and `created_by` are ours. */
export const dashboardFilters: readonly ListFilter<Dashboard>[] = [
  searchFilter("Text in the name or the description, in any case", (it) => [it.name, it.description]),
  tagsFilter,
  authorFilter,
  {
    name: "pinned",
    description: "Only pinned ones, or only the others",
    schema: truth,
    test([value]) {
      const wanted = isTrue(value);
      return ({ pinned }) => pinned === wanted;
    },
  },
  {
    name: "creation_mode",
    description: "Only those that were made this way; unlisted ones are in no other list",
    schema: { type: "string", enum: ["default", "template", "duplicate", "unlisted"] },
    test:
      ([value]) =>
      ({ creation_mode }) =>
        creation_mode === value,
  },
  {
    name: "exclude_generated",
    description: `Leaves out those whose name starts with "${generatedPrefix}"`,
    schema: truth,
    test: ([value]) =>
      value === "true" ? ({ name }) => name === null || !name.startsWith(generatedPrefix) : undefined,
  },
];

export const isListed = ({ creation_mode }: Dashboard): boolean => creation_mode !== "unlisted";
