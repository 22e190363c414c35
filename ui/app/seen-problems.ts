import type { Problems, RequestProblem } from "../../src/sim/problem-shapes.ts";

/** Which kinds of problems were on the Start page, by project ("" for all), of one run of the sim. */
export interface Seen {
  /** Names the run: the next one begins without seen problems. */
  readonly run: string;
  readonly projects: Readonly<Record<string, readonly string[]>>;
}

/** What is stored stays small, whatever arrives. */
const mostKeys = 500;
const mostProjects = 20;
const longestKey = 200;

export const keyOfEvents = (code: string): string => `event ${code}`;
/** As the sim counts them: each unknown path is one problem. */
export const keyOfRequests = ({ status, what, reason, detail }: RequestProblem): string =>
  `request ${status === 404 ? what : `${reason} ${detail}`}`.slice(0, longestKey);

export const problemKeys = ({ events, requests }: Problems): string[] => [
  ...events.map(({ code }) => keyOfEvents(code)),
  ...requests.map(keyOfRequests),
];

const isTexts = (it: unknown): it is string[] => Array.isArray(it) && it.every((text) => typeof text === "string");

/** What was stored by the same run; another page may have stored anything. */
export function readSeen(text: string | null, run: string): Seen {
  const none: Seen = { run, projects: {} };
  try {
    const stored: unknown = JSON.parse(text ?? "null");
    if (typeof stored !== "object" || stored === null || !("run" in stored) || stored.run !== run) return none;
    const { projects } = stored as { projects?: unknown };
    if (typeof projects !== "object" || projects === null) return none;
    return { run, projects: Object.fromEntries(Object.entries(projects).filter(([, keys]) => isTexts(keys))) };
  } catch {
    return none;
  }
}

const nameOf = (project: number | undefined): string => String(project ?? "");

/** The problems that were not on the Start page of this project, or of all projects. */
export function unseen(keys: readonly string[], seen: Seen, project: number | undefined): string[] {
  const known = new Set([...(seen.projects[nameOf(project)] ?? []), ...(seen.projects[""] ?? [])]);
  return keys.filter((it) => !known.has(it));
}

/** All problems of the project are seen; those that were cleared are forgotten, and new when they come back. */
export function withSeen(seen: Seen, keys: readonly string[], project: number | undefined): Seen {
  const name = nameOf(project);
  const others = Object.entries(seen.projects).filter(([it]) => it !== name);
  const latest = [...others, [name, keys.slice(0, mostKeys)] as const].slice(-mostProjects);
  return { run: seen.run, projects: Object.fromEntries(latest) };
}
