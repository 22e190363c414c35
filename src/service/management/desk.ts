import type { ExportDesk } from "../batch-exports/engine.ts";
import type { QueryDesk } from "../query/runner.ts";

/** What the endpoints need that recompute insights, or end a project's exports. */
export interface ManagementDesk extends ExportDesk, QueryDesk {}
