import { isObject, type Json, type JsonObject, objectsIn } from "../../kernel/base/json.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { liveResources } from "../../state/documents/resources.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import { createFollower, type FollowerPorts } from "./follower.ts";
import { Linter } from "./linter.ts";
import type { LintPort } from "./rule.ts";
import { LintPage, LintQuery, longestWork } from "./shapes.ts";

interface LintPorts extends FollowerPorts {
  readonly people: {
    groupTypes(project: number): readonly string[];
    group(project: number, type: number, key: string): unknown;
  };
  readonly worlds: Pick<WorldStore, "current" | "versionOf">;
}

const metricNodes = (metrics: Json | undefined): JsonObject[] =>
  objectsIn(metrics).flatMap((metric) => [...objectsIn(metric.series), ...Object.values(metric).filter(isObject)]);

/** Flags of running experiments by the events that their metrics count. */
function measuredFlags({ current }: LintPorts["worlds"], project: number): Map<unknown, string[]> {
  const flags = new Map<unknown, string[]>();
  for (const { fields } of liveResources(current, "experiments", project)) {
    const { start_date: start, end_date: end, feature_flag_id: id, feature_flag_key: key } = fields;
    const flag = current.feature_flags.find((it) => it.project === project && it.id === id)?.key ?? key;
    if (!start || end || typeof flag !== "string") continue;
    for (const { kind, event } of [fields.metrics, fields.metrics_secondary].flatMap(metricNodes)) {
      const known = flags.get(event) ?? [];
      if (kind === "EventsNode" && !known.includes(flag)) flags.set(event, [...known, flag]);
    }
  }
  return flags;
}

function portOf({ people, worlds }: LintPorts): LintPort {
  /** By project, of one version of the documents: every event asks. */
  const measured = new Map<number, Map<unknown, string[]>>();
  let version = "";
  return {
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
    flagsMeasuredBy(project, event) {
      const now = `${worlds.versionOf("resources")}/${worlds.versionOf("feature_flags")}`;
      if (now !== version) measured.clear();
      version = now;
      const known = measured.get(project) ?? measuredFlags(worlds, project);
      measured.set(project, known);
      return known.get(event) ?? [];
    },
  };
}

/** The endpoint of the linter. It reads the journal on request, so captures do not pay for it. */
export const lintSlice = slice(["log", "clock", "closing", "people", "worlds"], (ports: LintPorts) => {
  const linter = new Linter(portOf(ports));
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
});
