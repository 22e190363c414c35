import type { LintPage } from "./api.ts";
import type { Place } from "./call.ts";
import { queryText } from "./query.ts";

/** The linter's part of the client. */
export const lintBy =
  ({ call, project }: Place) =>
  ({ maxMs, ...query }: { project?: number; maxMs?: number } = {}): Promise<LintPage> =>
    call("GET", `lint${queryText({ project: project ?? query.project, max_ms: maxMs })}`);
