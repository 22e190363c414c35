import { row } from "../http/row.ts";
import { createFollower, type TrafficPorts } from "./follower.ts";
import { createLinter } from "./linter.ts";
import type { LintPort } from "./rule.ts";
import { LintPage, LintQuery, longestWork } from "./shapes.ts";

export interface LintPorts extends TrafficPorts {
  readonly people: {
    groupTypes(project: number): readonly string[];
    group(project: number, type: number, key: string): unknown;
  };
}

const portOf = ({ people }: LintPorts): LintPort => ({
  hasGroup(project, type, key) {
    const index = people.groupTypes(project).indexOf(type);
    return index !== -1 && people.group(project, index, key) !== undefined;
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
