import { relative } from "node:path";

const pathOf = (id) => relative(process.cwd(), id).replaceAll("\\", "/");
export const packageOf = (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

/** What imports what, with paths from the repository's root. `context`: Rolldown's, once all modules are parsed. */
export function graphOf(context) {
  const modules = new Map(
    [...context.getModuleIds()].map((id) => {
      const { importedIds, dynamicallyImportedIds } = context.getModuleInfo(id);
      return [pathOf(id), { now: importedIds.map(pathOf), late: dynamicallyImportedIds.map(pathOf) }];
    }),
  );
  const own = [...modules].filter(([path]) => packageOf(path) === undefined).map(([, it]) => it);

  /** These modules and all that they import statically. */
  function loadedWith(paths, found = new Set()) {
    for (const path of paths) {
      if (found.has(path)) continue;
      found.add(path);
      loadedWith(modules.get(path)?.now ?? [], found);
    }
    return found;
  }

  /** [package, its modules that src imports]; small ones first: they get what a larger one needs as well. */
  function packages() {
    const roots = new Map();
    for (const path of own.flatMap(({ now, late }) => [...now, ...late])) {
      const name = packageOf(path);
      if (name !== undefined) roots.set(name, [...(roots.get(name) ?? []), path]);
    }
    const sizes = new Map([...roots].map(([name, paths]) => [name, loadedWith(paths).size]));
    return [...roots].sort(([a], [b]) => sizes.get(a) - sizes.get(b));
  }
  return {
    all: [...modules.keys()],
    /** Targets of `import()` in src. */
    late: own.flatMap((it) => it.late),
    /** Those of one module. */
    lateIn: (path) => modules.get(path)?.late ?? [],
    loadedWith,
    packages,
  };
}

/**
 * A plugin and the `codeSplitting` option that belongs to it.
 * @param chunksOf Called with the graph; returns [name, modules] in order. A module goes to the first that has it; those
 *   of `null` stay with their entry.
 */
export function inChunks(chunksOf) {
  let chunks = [];
  const plugin = {
    name: "chunks",
    buildEnd() {
      chunks = chunksOf(graphOf(this));
    },
  };
  const name = (id) => chunks.find(([, paths]) => paths.has(pathOf(id)))?.[0] ?? null;
  return { plugin, codeSplitting: { groups: [{ name, debugName: "chunks" }], includeDependenciesRecursively: false } };
}
