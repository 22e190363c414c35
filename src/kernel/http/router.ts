import { type Loaded, onFirstUse } from "../base/on-first-use.ts";
import type { Endpoint } from "./endpoint.ts";

type MethodMap = ReadonlyMap<string, Endpoint>;

/** What a path leads to: the rows by method, and the path parameters. */
export interface Match {
  readonly byMethod: MethodMap;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router {
  /** Rows at hand whose path has no parameters: one map look-up, at once. `path` as made by `pathOf`. */
  exact(path: string): Match | undefined;
  /** All rows, the late ones and those with parameters included. */
  search(path: string): Promise<Match | undefined>;
  /** Every row; loads the late ones. @throws Error when two rows claim the same method and path. */
  endpoints(): Promise<readonly Endpoint[]>;
  /** Loads the first late rows that may have the path. */
  warm(path: string): Promise<void>;
}

const noParams = Object.freeze({});

function grouped(endpoints: readonly Endpoint[]): Map<string, Map<string, Endpoint>> {
  const paths = new Map<string, Map<string, Endpoint>>();
  for (const endpoint of endpoints) {
    const methods = paths.get(endpoint.path) ?? new Map<string, Endpoint>();
    paths.set(endpoint.path, methods);
    for (const method of endpoint.methods) {
      if (methods.has(method)) throw new Error(`two endpoints for ${method} ${endpoint.path}`);
      methods.set(method, endpoint);
    }
  }
  return paths;
}

/** find-my-way costs 18 ms to import, so it is loaded with the late rows. */
async function plant(paths: Map<string, MethodMap>) {
  const { default: findMyWay } = await import("find-my-way");
  const tree = findMyWay({ maxParamLength: 500 });
  for (const [path, byMethod] of paths) {
    if (path.includes(":")) tree.on("GET", path, () => {}, byMethod);
  }
  return tree;
}

/** Rows that are loaded on first need. */
export interface LateRows {
  /** Which paths they may have; where several do, the first that has the path answers. */
  owns(path: string): boolean;
  load(): Promise<readonly Endpoint[]>;
}

/** Late rows once they are there. */
interface Grove {
  readonly endpoints: readonly Endpoint[];
  find(path: string): Match | undefined;
}

/**
 * A router over rows that are needed at once and rows that are loaded on first need: start-up pays only
 * for what the first event asks for, and an app that never calls the management API never loads it.
 */
export function createRouter(early: readonly Endpoint[], late: readonly LateRows[] = []): Router {
  const withParameters = early.filter((it) => it.path.includes(":"));
  const first: LateRows = { owns: () => withParameters.length > 0, load: async () => withParameters };
  const groups = [first, ...late];
  const exact = exactMatches(grouped(early));
  const grown = new Map<LateRows, Loaded<Grove>>();

  async function grow(group: LateRows): Promise<Grove> {
    const endpoints = await group.load();
    const paths = grouped(endpoints);
    for (const path of paths.keys()) {
      if (exact.has(path)) throw new Error(`two groups of endpoints for ${path}`);
    }
    const tree = await plant(paths);
    for (const [path, match] of exactMatches(paths)) exact.set(path, match);
    return {
      endpoints,
      find(path) {
        const found = tree.find("GET", path);
        return found
          ? { byMethod: found.store as MethodMap, params: found.params as Record<string, string> }
          : undefined;
      },
    };
  }

  function loaded(group: LateRows): Promise<Grove> {
    const known = grown.get(group) ?? onFirstUse(() => grow(group));
    grown.set(group, known);
    return known();
  }

  return {
    exact: (path) => exact.get(path),
    async search(path) {
      for (const group of groups) {
        if (!group.owns(path)) continue;
        const grove = await loaded(group);
        const found = exact.get(path) ?? grove.find(path);
        if (found) return found;
      }
      return exact.get(path);
    },
    async endpoints() {
      const all = [...early];
      // one after the other: together they would be loaded in one turn of the event loop
      for (const group of late) all.push(...(await loaded(group)).endpoints);
      grouped(all);
      return all;
    },
    async warm(path) {
      const group = late.find((it) => it.owns(path));
      if (group) await loaded(group);
    },
  };
}

const exactMatches = (paths: ReadonlyMap<string, MethodMap>): Map<string, Match> =>
  new Map(
    [...paths]
      .filter(([path]) => !path.includes(":"))
      .map(([path, byMethod]) => [path, { byMethod, params: noParams }]),
  );
