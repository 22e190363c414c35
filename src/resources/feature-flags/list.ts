import type { FeatureFlag } from "../../model/world.ts";
import { authorFilter, type ListFilter, searchFilter, tagsFilter } from "../list-filters.ts";

const isMultivariant = ({ filters }: FeatureFlag): boolean =>
  (filters.multivariate?.variants ?? []).length > 0;

const types: ReadonlyMap<string | undefined, (flag: FeatureFlag) => boolean> = new Map([
  ["boolean", (flag: FeatureFlag) => !isMultivariant(flag)],
  ["multivariant", isMultivariant],
  // There are no experiments here.
  ["experiment", () => false],
  ["remote_config", (flag: FeatureFlag) => flag.is_remote_configuration],
]);

/** What the list can be narrowed by. Upstream PostHog/posthog posthog/api/feature_flag.py. */
export const flagFilters: readonly ListFilter<FeatureFlag>[] = [
  {
    name: "active",
    description: "true, false, or STALE; no flag is stale here",
    schema: { type: "string" },
    // A flag that nobody calls becomes stale upstream; here all are shown as ACTIVE.
    test: ([value]) => (value === "STALE" ? () => false : (flag) => flag.active === (value === "true")),
  },
  { ...authorFilter, name: "created_by_id" },
  searchFilter("Part of the key or the name, in any case", ({ key, name }) => [key, name]),
  {
    name: "type",
    description: "boolean, multivariant, experiment or remote_config",
    schema: { type: "string" },
    test: ([value]) => types.get(value),
  },
  {
    name: "evaluation_runtime",
    description: "all, client or server",
    schema: { type: "string" },
    test:
      ([value]) =>
      (flag) =>
        flag.evaluation_runtime === value,
  },
  tagsFilter,
];
