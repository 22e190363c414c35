import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ExportFiles, ExportFileWriter, RunFiles } from "./ports.ts";

/** A run's files are in a folder with this ending until all of them are written. */
const unfinished = ".part";

/** Characters that names of files cannot have everywhere; a colon would hide the file there. */
const windowsUnsafe = /[<>:"|?*]/g;
const nameFor = (key: string): string => (process.platform === "win32" ? key.replace(windowsUnsafe, "_") : key);

/** @throws Error if the path is outside of the folder; keys and ids are made so that it never is */
function below(folder: string, ...parts: readonly string[]): string {
  const path = resolve(folder, ...parts);
  if (!path.startsWith(folder + sep)) throw new Error(`${path} is not below ${folder}`);
  return path;
}

/**
 * Files in a folder, `<folder>/<export>/<run>/<key>`. A run's folder has its name only once all is in it: what a
 * killed process leaves is recognisable, and removed when the run is started again.
 */
export function folderFiles(path: string): ExportFiles {
  const folder = resolve(path);

  async function begin(batchExport: string, run: string): Promise<RunFiles> {
    const published = below(folder, batchExport, run);
    const draft = `${published}${unfinished}`;
    const handles = new Set<ExportFileWriter>();
    for (const it of [published, draft]) await rm(it, { recursive: true, force: true });

    async function create(key: string): Promise<ExportFileWriter> {
      const file = below(draft, nameFor(key));
      await mkdir(dirname(file), { recursive: true });
      const handle = await open(file, "wx");
      const opened: ExportFileWriter = {
        async write(bytes) {
          await handle.writeFile(bytes);
        },
        async close() {
          handles.delete(opened);
          await handle.close();
        },
      };
      handles.add(opened);
      return opened;
    }

    return {
      create,
      publish: () => rename(draft, published),
      async discard() {
        for (const handle of handles) await handle.close();
        await rm(draft, { recursive: true, force: true });
      },
    };
  }

  return {
    begin,
    async list(batchExport, run) {
      const entries = await entriesOf(below(folder, batchExport, run));
      const files = entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
      const shown = files
        .sort()
        .map(async (file) => ({ path: relative(folder, file).split(sep).join("/"), bytes: (await stat(file)).size }));
      return Promise.all(shown);
    },
    read: async (file) => readFile(below(folder, nameFor(file))).catch(absent),
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

const entriesOf = async (path: string) =>
  (await readdir(path, { recursive: true, withFileTypes: true }).catch(absent)) ?? [];

function absent(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "EISDIR") throw error;
}

/** Files in memory: of all together at most `keepBytes`, the oldest are let go first. */
export function memoryFiles(keepBytes: number = 64 * 1024 * 1024): ExportFiles {
  const contents = new Map<string, Buffer>();
  let size = 0;

  function remove(path: string): void {
    size -= contents.get(path)?.length ?? 0;
    contents.delete(path);
  }

  function keep(path: string, bytes: Buffer): void {
    remove(path);
    contents.set(path, bytes);
    size += bytes.length;
    for (const oldest of contents.keys()) {
      if (size <= keepBytes || oldest === path) return;
      remove(oldest);
    }
  }

  const pathsOf = (prefix: string) => [...contents.keys()].filter((it) => it.startsWith(prefix));

  return {
    async begin(batchExport, run) {
      const prefix = `${batchExport}/${run}/`;
      const drafts = new Map<string, Uint8Array[]>();
      for (const path of pathsOf(prefix)) remove(path);
      return {
        async create(key) {
          const parts: Uint8Array[] = [];
          drafts.set(key, parts);
          return { write: async (bytes) => void parts.push(bytes), close: async () => {} };
        },
        async publish() {
          for (const [key, parts] of drafts) keep(`${prefix}${key}`, Buffer.concat(parts));
        },
        discard: async () => drafts.clear(),
      };
    },
    list: async (batchExport, run) =>
      pathsOf(`${batchExport}/${run}/`)
        .sort()
        .map((path) => ({ path, bytes: contents.get(path)?.length ?? 0 })),
    read: async (path) => contents.get(path),
    async clear() {
      contents.clear();
      size = 0;
    },
  };
}
