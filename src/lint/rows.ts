import { row } from "../http/row.ts";
import type { WorldStore } from "../world/world-store.ts";
import { createFollower, type TrafficPorts } from "./follower.ts";
import { createLinter } from "./linter.ts";
import type { LintPort } from "./rule.ts";
import { LintPage, LintQuery, longestWork } from "./shapes.ts";

export interface LintPorts extends TrafficPorts {
  readonly people: {
    groupTypes(project: number): readonly string[];
    group(project: number, type: number, key: string): unknown;
  };
  readonly worlds: Pick<WorldStore, "current">;
}

const portOf = ({ people, worlds }: LintPorts): LintPort => ({
  hasGroup(project, type, key) {
    const index = people.groupTypes(project).indexOf(type);
    return index !== -1 && people.group(project, index, key) !== undefined;
  },
  variantShares(project, key) {
    const { feature_flags: flags, flag_overrides: overrides } = worlds.current;
    const flag = flags.find((it) => it.project === project && it.key === key && !it.deleted);
    const { multivariate, groups = [], aggregation_group_type_index: group } = flag?.filters ?? {};
    const isForced = overrides.some((it) => it.project === project && it.flag === key);
    if (!multivariate || isForced || (group ?? null) !== null || groups.some(({ variant }) => variant))
      return undefined;
    return multivariate.variants.map((it) => ({ variant: it.key, percentage: it.rollout_percentage }));
  },
});

/** The endpoint of the linter. It reads the journal on request, so captures do not pay for it. */
export function lintRows(ports: LintPorts) {
  const linter = createLinter(portOf(ports));
  const follower = createFollower(ports, linter);
  return [
    row({
      method: "GET",
      path: "/__sim/lint",
      access: "control",
      summary:
        "Lists likely mistakes in the captured traffic: wrong flag values, odd times, personal data, names and types that differ",
      query: LintQuery,
      reply: LintPage,
      async handle({ query }) {
        await follower.catchUp(query.max_ms ?? longestWork);
        return { findings: linter.findings(query.project), ...follower.progress };
      },
    }),
  ];
}
