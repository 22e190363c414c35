/**
 * The modules that are loaded with one.
 * @param inputs What esbuild's metafile says of the modules.
 */
export function loadedWith(inputs, path, found = new Set()) {
  if (found.has(path) || inputs[path] === undefined) return found;
  found.add(path);
  for (const { kind, path: next } of inputs[path].imports) {
    if (kind === "import-statement") loadedWith(inputs, next, found);
  }
  return found;
}
