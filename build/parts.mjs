import { posix } from "node:path";

const file = "parts.js";

/** Replaces each `import()` of a chunk: src/kernel/base/part-loader.ts loads it, and tries again after a failure. */
export const loadedInParts = {
  name: "parts",
  renderChunk(code, { fileName, isEntry }) {
    const folder = posix.dirname(fileName);
    const changed = code.replace(
      /\bimport\((["'`])(\.\.?\/[\w@./-]+\.js)\1\)/g,
      (_, __, path) => `__loadPart("${posix.join(folder, path)}")`,
    );
    const own = posix.relative(folder, file).replace(/^(?!\.)/, "./");
    if (changed !== code) return `import { load as __loadPart } from "${own}";\n${changed}`;
    // what users import says first that it needs Node: the runtime of the bundler stands before all chunks
    return isEntry && /^(index|testing\/)/.test(fileName) ? `import "${own}";\n${code}` : null;
  },
};

/** The forward proxy's thread loads it by itself. */
const inThreads = ["packages/mockttp.js"];

/**
 * The source of the loader with its list of the chunks.
 * @param start The chunk of a sim: all that it may need later is the rest
 * @param outside Chunks whose `import()` is not the sim's
 */
export function partsSource(chunks, start, outside) {
  const byName = new Map(chunks.map((it) => [it.fileName, it]));
  const needsOf = (name) => byName.get(name).imports.filter((it) => byName.has(it));
  const rest = new Set();
  const collect = (name) => {
    if (rest.has(name) || !byName.has(name) || inThreads.includes(name)) return;
    for (const it of needsOf(name)) collect(it);
    rest.add(name);
    if (!outside.includes(name)) for (const it of byName.get(name).dynamicImports) collect(it);
  };
  collect(start);
  // what users import is none of them: bundlers would follow it, and miss its test runner
  const loadable = new Set();
  const add = (name) => {
    if (loadable.has(name) || !byName.has(name)) return;
    loadable.add(name);
    for (const it of needsOf(name)) add(it);
  };
  for (const it of chunks.flatMap(({ dynamicImports }) => dynamicImports)) add(it);
  const row = ({ fileName }) =>
    `"${fileName}": { open: () => import("./${fileName}"), needs: ${JSON.stringify(needsOf(fileName))} },`;
  return [
    // every entry imports this file first
    'import "./src/kernel/base/needs-node.ts";',
    'import { partLoader } from "./src/kernel/base/part-loader.ts";',
    `const parts = {\n${chunks
      .filter((it) => loadable.has(it.fileName))
      .map(row)
      .join("\n")}\n};`,
    `export const { load, loadRest } = partLoader(parts, import.meta.url, ${JSON.stringify([...rest])});`,
  ].join("\n");
}

/** Bundles a source text that has no file, as the entry `name`. */
export const sourceOf = (name, text) => ({
  name: "source",
  resolveId(id) {
    if (id === name) return `${process.cwd()}/${name}.ts`;
    return /^\.\/.*\.js$/.test(id) ? { id, external: true } : null;
  },
  load: (id) => (id === `${process.cwd()}/${name}.ts` ? text : null),
});
