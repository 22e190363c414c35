import { isUuid } from "../../../kernel/base/text.ts";
import { any, type Piece, wildcardTest } from "../../../kernel/base/wildcard.ts";
import { decodedPart } from "../redact/fields.ts";
import { placeholdersIn } from "../redact/placeholders.ts";
import { hasShape } from "../redact/shapes.ts";

/** Routes whose answer is only a receipt; their bodies are compared as events. */
const captureRoutes: readonly string[] = ["capture", "recordings"];

export const isCapture = (route: string): boolean => captureRoutes.includes(route);

interface Row {
  /** Without a slash at its end; `*` is one segment, a `**` at the end any number of them, or none. */
  path: string;
  name: string;
}

/** What SDKs request, by any method. The first row that fits names the route. */
const rows: readonly Row[] = [
  ...["/e", "/i/v0/e", "/capture", "/batch", "/track", "/engage"].map((path) => ({ path, name: "capture" })),
  { path: "/i/v1/analytics/events", name: "capture" },
  { path: "/i/v0/ai/**", name: "capture" },
  { path: "/i/v1/ai/events", name: "capture" },
  { path: "/s/**", name: "recordings" },
  { path: "/flags/definitions", name: "local-evaluation" },
  { path: "/flags", name: "flags" },
  { path: "/decide", name: "flags" },
  { path: "/array/*/config", name: "remote-config" },
  { path: "/array/*/config.js", name: "remote-config" },
  { path: "/array/**", name: "static" },
  { path: "/static/**", name: "static" },
  { path: "/api/feature_flag/local_evaluation", name: "local-evaluation" },
  { path: "/api/projects/*/feature_flags/local_evaluation", name: "local-evaluation" },
  { path: "/api/environments/*/feature_flags/local_evaluation", name: "local-evaluation" },
];

const exact = new Map(rows.filter(({ path }) => !path.includes("*")).map(({ path, name }) => [path, name]));
const patterns = rows
  .filter(({ path }) => path.includes("*"))
  .map(({ path, name }) => ({ segments: path.split("/"), name }));

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === "**";
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  const hasLength = isOpen ? path.length >= fixed.length : path.length === fixed.length;
  return hasLength && fixed.every((it, i) => it === "*" || it === path[i]);
}

const sharing: ReadonlySet<string> = new Set(["shared", "shared_dashboard", "embedded"]);

/** Ids and keys vary from run to run; names of resources, and `@current`, do not. A tape keeps routes unredacted. */
function openSegment(segment: string, i: number, segments: readonly string[]): string {
  if (/^\d+$/.test(segment) || isUuid(segment)) return ":id";
  const plain = decodedPart(segment);
  const isKey = sharing.has(segments[i - 1] ?? "") || hasShape(plain) || placeholdersIn(plain).length > 0;
  return isKey ? ":key" : segment;
}

/** The path of a target or URL: without query, doubled slashes and a slash at its end. */
export function pathOf(target: string): string {
  const path = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? "";
  return `/${path.split("/").filter(Boolean).join("/")}`;
}

/** The route of a request: `capture`, `flags` …, or method and path with ids and keys left open (`/api/x/:id`). */
export function routeOf(method: string, path: string): string {
  const plain = pathOf(path);
  const known = exact.get(plain);
  if (known !== undefined) return known;
  const segments = plain.split("/");
  const found = patterns.find((it) => fits(it.segments, segments));
  return found?.name ?? `${method.toUpperCase()} ${segments.map(openSegment).join("/")}`;
}

const wild: Readonly<Record<string, Piece>> = {
  "**": any,
  "*": { is: "any", isWithin: true },
  "?": { is: "one", isWithin: true },
};

function globTest(glob: string): (path: string) => boolean {
  const rooted = glob.startsWith("/") ? glob : `**/${glob}`;
  const plain = rooted.length > 1 ? rooted.replace(/\/$/, "") : rooted;
  const testOf = (whole: string) => wildcardTest(whole.split(/(\*\*|\*|\?)/).map((part) => wild[part] ?? part));
  // `/api/**` also fits `/api`
  const tests = plain.endsWith("/**") ? [testOf(plain), testOf(plain.slice(0, -3))] : [testOf(plain)];
  return (path) => tests.some((it) => it(path));
}

/**
 * Returns whether one of the globs fits a path. `*` is any part of a segment, `**` any number of segments, `?` one character; a
 * slash at the end, the path's or the glob's, does not count; a glob that begins without a slash fits anywhere
 * (`*.js`). An empty list fits nothing. @throws TypeError when a glob is empty
 */
export function globs(list: readonly string[]): (target: string) => boolean {
  if (list.some((it) => it.trim() === "")) throw new TypeError("a path pattern is empty; write /api/** or *.js");
  const tests = list.map(globTest);
  return (target) => {
    const path = pathOf(target);
    return tests.some((it) => it(path));
  };
}
