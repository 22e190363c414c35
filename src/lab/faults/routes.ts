import { isControlPath } from "../../kernel/http/family.ts";

/** The facts by which a rule's route is recognised. The page's form checks routes, too: no type of Node here. */
interface Place {
  readonly method: string;
  /** Without query and trailing slash. */
  readonly path: string;
  readonly family: string;
}

/** Words for groups of endpoints, by their families. */
const words: Readonly<Record<string, readonly string[]>> = {
  /** Events and recordings. */
  capture: ["capture", "capture-v1"],
  flags: ["flags"],
  /** Other requests of SDKs: remote config, surveys, scripts … */
  service: ["service"],
  sdk: ["capture", "capture-v1", "flags", "service"],
  management: ["management"],
};

const routeWords: readonly string[] = Object.keys(words);

/** `/path`, or `METHOD /path`. */
const patternShape = /^(?:([A-Z]+) )?(\/\S*)$/;

/** Reads a pattern: `:name` or `*` stands for one segment, a `*` at the end for all that follows. */
function segmentsOf(path: string): readonly string[] {
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return plain.split("/");
}

const isAny = (segment: string): boolean => segment === "*" || segment.startsWith(":");

function matches(pattern: readonly string[], path: string): boolean {
  const segments = path.split("/");
  const isOpen = pattern.at(-1) === "*";
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every((segment, i) => isAny(segment) || segment === segments[i]);
}

/** What was expected instead, completing "expected …"; undefined when it is a route. */
export function routeProblem(route: string): string | undefined {
  if (Object.hasOwn(words, route)) return undefined;
  const [, , path] = patternShape.exec(route) ?? [];
  if (path === undefined) return `${routeWords.join(", ")}, or a path such as /flags or POST /flags`;
  if (isControlPath(path)) return "a path outside of the control API";
  if (path.includes("?")) return "a path without a query";
  const isPartial = segmentsOf(path).some((it) => it.includes("*") && it !== "*");
  return isPartial ? "a * for a whole segment of the path, or at its end for the rest" : undefined;
}

function routeTest(route: string): (place: Place) => boolean {
  const families = Object.hasOwn(words, route) ? words[route] : undefined;
  if (families) return ({ family }) => families.includes(family);
  const [, method, path = ""] = patternShape.exec(route) ?? [];
  const pattern = segmentsOf(path);
  return (place) => (method === undefined || method === place.method) && matches(pattern, place.path);
}

/**
 * The test for requests to a route, with a method, or both. A preflight belongs to the request after it: only
 * who names the method means it.
 */
export function placeTest(match: {
  route?: string | undefined;
  method?: string | undefined;
}): (place: Place) => boolean {
  const { route } = match;
  const suitsRoute = route === undefined ? () => true : routeTest(route);
  const method = match.method ?? /^[A-Z]+(?= )/.exec(route ?? "")?.[0];
  const suitsMethod = (sent: string) => (method === undefined ? sent !== "OPTIONS" : sent === method);
  return (place) => suitsMethod(place.method) && suitsRoute(place);
}
