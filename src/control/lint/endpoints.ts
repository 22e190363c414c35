import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { createLinter, type Linter } from "../../lint/linter.ts";
import type { LintPort } from "../../lint/types.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";
import { createFollower, type Follower } from "./follower.ts";

const most = Number.MAX_SAFE_INTEGER;
const longestWork = 60_000;

interface LintDesk {
  linter: Linter;
  follower: Follower;
}

/** What the sim knows of groups: those of the scenario, too. */
const portOf = ({ people }: Pick<ControlDesk, "people">): LintPort => ({
  hasGroup(project, type, key) {
    const index = people.groupTypes(project).indexOf(type);
    return index !== -1 && people.group(project, index, key) !== undefined;
  },
});

async function lint({ linter, follower }: LintDesk, call: Call): Promise<Reply> {
  const project = queryNumber(call, "project", { min: 0, max: most });
  const maxMs = queryNumber(call, "max_ms", { min: 1, max: longestWork }) ?? longestWork;
  await follower.catchUp(maxMs);
  return json({ findings: linter.findings(project).map((it) => ({ ...it })), ...follower.progress });
}

const rows: readonly ControlRow<LintDesk>[] = [
  [
    "GET",
    "/__sim/lint",
    "Warnings about what was captured: flags that do not fit, odd times, personal data, names and types that differ",
    lint,
  ],
];

/** The linter reads the journal when it is asked: captures pay nothing for it. */
export function lintEndpoints(desk: ControlDesk): Endpoint[] {
  const linter = createLinter(portOf(desk));
  return endpointsOf(rows, { linter, follower: createFollower(desk, linter) });
}
