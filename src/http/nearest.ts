import type { Endpoint } from "./endpoint.ts";

/** How much of a pattern's path a path shares: equal or parameter segments from the front. */
function shared(pattern: string, path: string): number {
  const wanted = path.split("/");
  let count = 0;
  for (const segment of pattern.split("/")) {
    if (segment !== wanted[count] && !segment.startsWith(":")) break;
    count++;
  }
  return count;
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
