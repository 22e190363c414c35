import { nearest } from "../kernel/nearest.ts";
import type { Endpoint } from "./endpoint.ts";

/** Is it a slip of the pen? Of two letters, any other one would be. */
const isSlip = (segment: string, wanted: string): boolean =>
  wanted.length > 2 && nearest(segment, [wanted]) !== undefined;

/** How much one segment of a path is like that of a pattern, from 0 to 1. */
function likeness(wanted: string, segment: string | undefined): number {
  if (segment === wanted) return 1;
  if (!segment) return 0;
  if (wanted.startsWith(":")) return 1;
  return isSlip(segment, wanted) ? 0.5 : 0;
}

/** How much of a pattern's path a path shares, from the front: equal, parameter and misspelt segments. */
function shared(pattern: string, path: string): number {
  const segments = path.split("/");
  let score = 0;
  for (const [i, wanted] of pattern.split("/").entries()) {
    const like = likeness(wanted, segments[i]);
    if (like === 0) break;
    score += like;
  }
  return score;
}

/** The endpoints closest to a path that none has, as `GET /path`, best first. */
export function nearestEndpoints(endpoints: readonly Endpoint[], path: string, most = 3): string[] {
  const distance = (it: Endpoint) => Math.abs(it.path.length - path.length);
  return endpoints
    .map((endpoint) => ({ endpoint, score: shared(endpoint.path, path) }))
    .filter(({ score }) => score > 1)
    .sort((a, b) => b.score - a.score || distance(a.endpoint) - distance(b.endpoint))
    .slice(0, most)
    .map(({ endpoint }) => `${endpoint.methods[0]} ${endpoint.path}`);
}
