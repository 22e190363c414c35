import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import type { LintPage } from "./shapes.ts";

export const lintBy =
  ({ call, project }: HandleScope) =>
  ({ maxMs, ...query }: { project?: number; maxMs?: number } = {}): Promise<LintPage> =>
    call("GET", `lint${queryText({ project: project ?? query.project, max_ms: maxMs })}`);
