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

/**
 * A router over rows that are needed at once and rows that are loaded on first need: start-up pays only
 * for what the first event asks for.
 */
export function createRouter(
  early: readonly Endpoint[],
  loadLate: () => Promise<readonly Endpoint[]> = async () => [],
): Router {
  let exact = exactMatches(grouped(early));
  let late: ReturnType<typeof load> | undefined;

  async function load() {
    const endpoints = [...early, ...(await loadLate())];
    const paths = grouped(endpoints);
    const tree = await plant(paths);
    exact = exactMatches(paths);
    return { endpoints, tree };
  }
  const loaded = () => {
    late ??= load();
    return late;
  };

  return {
    exact: (path) => exact.get(path),
    async search(path) {
      const { tree } = await loaded();
      const known = exact.get(path);
      if (known) return known;
      const found = tree.find("GET", path);
      return found
        ? { byMethod: found.store as MethodMap, params: found.params as Record<string, string> }
        : undefined;
    },
    endpoints: async () => (await loaded()).endpoints,
  };
}

const exactMatches = (paths: ReadonlyMap<string, MethodMap>): Map<string, Match> =>
  new Map([...paths].map(([path, byMethod]) => [path, { byMethod, params: noParams }]));
