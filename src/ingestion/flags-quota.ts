import type { Call } from "../http/call.ts";
import type { Project } from "../model/world.ts";

const resource = "feature_flags";

/** What an answer without flags says about why. */
export const quotaLimited: readonly string[] = [resource];

/** Has the project used up its flag requests? It says so itself (`quota_limited` in its settings), or a fault does. */
export function isQuotaLimited({ settings }: Project, { fault }: Call): boolean {
  if (fault?.quota?.includes(resource)) return true;
  const limited = settings.quota_limited;
  return Array.isArray(limited) && limited.includes(resource);
}
