import { onFirstUse } from "../base/on-first-use.ts";
import type { Endpoint } from "./endpoint.ts";

type MethodMap = ReadonlyMap<string, Endpoint>;

export interface Match {
  readonly byMethod: MethodMap;
  readonly params: Readonly<Record<string, string>>;
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

export interface LateRows {
  /** Which paths they may have; where several do, the first that has the path answers. */
  owns(path: string): boolean;
  load(): Promise<readonly Endpoint[]>;
}

interface Grove {
  readonly endpoints: readonly Endpoint[];
  find(path: string): Match | undefined;
}

/** Rows at hand, and rows that are loaded on first need: a start pays only for what the first event asks for. */
export class Router {
  readonly #early: readonly Endpoint[];
  readonly #exact: Map<string, Match>;
  /** The early rows with parameters, then the late ones. */
  readonly #groups: readonly { owns(path: string): boolean; grove(): Promise<Grove> }[];

  constructor(early: readonly Endpoint[], late: readonly LateRows[] = []) {
    const withParameters = early.filter((it) => it.path.includes(":"));
    const first: LateRows = { owns: () => withParameters.length > 0, load: async () => withParameters };
    this.#early = early;
    this.#exact = exactMatches(grouped(early));
    this.#groups = [first, ...late].map((it) => ({ owns: it.owns, grove: onFirstUse(() => this.#grow(it)) }));
  }

  /** Rows at hand whose path has no parameters: one map look-up, at once. `path` as made by `pathOf`. */
  exact(path: string): Match | undefined {
    return this.#exact.get(path);
  }

  async search(path: string): Promise<Match | undefined> {
    for (const { owns, grove } of this.#groups) {
      if (!owns(path)) continue;
      const { find } = await grove();
      const found = this.#exact.get(path) ?? find(path);
      if (found) return found;
    }
    return this.#exact.get(path);
  }

  /** Every row; loads the late ones. @throws Error when two rows claim the same method and path. */
  async endpoints(): Promise<readonly Endpoint[]> {
    const all = [...this.#early];
    // one after the other: together they would be loaded in one turn of the event loop
    for (const { grove } of this.#groups.slice(1)) all.push(...(await grove()).endpoints);
    grouped(all);
    return all;
  }

  /** Loads the first late rows that may have the path. */
  async warm(path: string): Promise<void> {
    await this.#groups
      .slice(1)
      .find(({ owns }) => owns(path))
      ?.grove();
  }

  async #grow(group: LateRows): Promise<Grove> {
    const endpoints = await group.load();
    const paths = grouped(endpoints);
    for (const path of paths.keys()) {
      if (this.#exact.has(path)) throw new Error(`two groups of endpoints for ${path}`);
    }
    const tree = await plant(paths);
    for (const [path, match] of exactMatches(paths)) this.#exact.set(path, match);
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
}

const exactMatches = (paths: ReadonlyMap<string, MethodMap>): Map<string, Match> =>
  new Map(
    [...paths]
      .filter(([path]) => !path.includes(":"))
      .map(([path, byMethod]) => [path, { byMethod, params: noParams }]),
  );
