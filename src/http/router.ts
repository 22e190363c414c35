import type { Endpoint } from "./endpoint.ts";

type MethodMap = ReadonlyMap<string, Endpoint>;

/** What a path leads to: the rows by method, and the path parameters. */
export interface Match {
  readonly byMethod: MethodMap;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router {
  readonly endpoints: readonly Endpoint[];
  /** Rows whose path has no parameters: one map look-up, at once. `path` as made by `pathOf`. */
  exact(path: string): Match | undefined;
  /** Rows with parameters. */
  search(path: string): Promise<Match | undefined>;
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

/** find-my-way costs 18 ms to import, so it is loaded when the first path with parameters is asked for. */
async function plant(paths: Map<string, MethodMap>) {
  const { default: findMyWay } = await import("find-my-way");
  const tree = findMyWay({ maxParamLength: 500 });
  for (const [path, byMethod] of paths) {
    if (path.includes(":")) tree.on("GET", path, () => {}, byMethod);
  }
  return tree;
}

/** @throws Error when two rows claim the same method and path. */
export function createRouter(endpoints: readonly Endpoint[]): Router {
  const paths = grouped(endpoints);
  const exact = new Map([...paths].map(([path, byMethod]) => [path, { byMethod, params: noParams }]));
  let tree: ReturnType<typeof plant> | undefined;
  return {
    endpoints,
    exact: (path) => exact.get(path),
    async search(path) {
      tree ??= plant(paths);
      const found = (await tree).find("GET", path);
      return found
        ? { byMethod: found.store as MethodMap, params: found.params as Record<string, string> }
        : undefined;
    },
  };
}
