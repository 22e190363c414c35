import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * A file of the build that is run by itself: beside the chunks in the package, below `dist` in the repository.
 * @param path Its path in `dist`, with `/`
 */
export function builtFile(path: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, "dist", path);
    if (existsSync(file)) return file;
    if (dirname(folder) === folder)
      throw new Error(`dist/${path} is missing: install phx-sim again, or build it`);
  }
}
