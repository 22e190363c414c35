import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { extname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export interface SourceFile {
  /** Below the folder, with slashes. */
  readonly path: string;
  readonly file: string;
  readonly text: string;
  readonly modified: number;
}

export type SourceReading = SourceFile | { readonly why: string };

/** Only these are read: a captured event names the file. */
const sourceEndings = new Set(
  (
    ".js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .astro .py .rb .php .go .java .kt .kts .swift .dart .rs .cs .ex " +
    ".exs .erl .scala .clj .c .h .cc .cpp .hpp .m .mm .lua .html .coffee"
  ).split(" "),
);

/** Folders of builds whose names begin with a dot; every other name with a dot is refused. */
const dottedFolders = new Set([".next", ".nuxt", ".output", ".svelte-kit", ".pnpm", ".vite"]);

const mostBytes = { source: 2_000_000, map: 10_000_000 } as const;
type FileKind = keyof typeof mostBytes;

const isHidden = (path: string): boolean => {
  const names = path.split("/");
  return names.some((it, i) => it.startsWith(".") && !(i < names.length - 1 && dottedFolders.has(it)));
};

const endingFits = (path: string, kind: FileKind): boolean =>
  kind === "map" ? path.endsWith(".map") : sourceEndings.has(extname(path).toLowerCase());

function below(folder: string, file: string): string | undefined {
  const path = relative(folder, file);
  if (path === "" || isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) return undefined;
  return path.replaceAll(sep, "/");
}

/** The path may be refused by its name alone, before the disk is asked. */
function refusalOf(path: string | undefined, kind: FileKind): string | undefined {
  if (path === undefined) return "the file is not below the sim's working directory";
  if (isHidden(path)) return "hidden files are not read";
  if (!endingFits(path, kind)) return "it is not a source file by its ending";
  return undefined;
}

const missing = { why: "the file is not on this machine's disk" };

/** Reads a file below a folder. Symbolic links are followed first, so that they lead nowhere else. */
export async function readBelow(folder: string, file: string, kind: FileKind = "source"): Promise<SourceReading> {
  if (file.includes("\0") || file.length > 4_000) return { why: "the frame's file is no path" };
  const refusal = refusalOf(below(folder, file), kind);
  if (refusal !== undefined) return { why: refusal };
  try {
    const [root, real] = await Promise.all([realpath(folder), realpath(file)]);
    const path = below(root, real);
    const refused = refusalOf(path, kind);
    if (refused !== undefined || path === undefined) return { why: refused ?? "" };
    // a pipe must not block, nor a link that was put there since lead elsewhere
    const handle = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return { why: "it is not a file" };
      if (stat.size > mostBytes[kind]) return { why: `the file is larger than ${mostBytes[kind] / 1_000_000} MB` };
      const bytes = Buffer.alloc(stat.size);
      const { bytesRead } = await handle.read(bytes, 0, stat.size, 0);
      const read = bytes.subarray(0, bytesRead);
      if (read.subarray(0, 8_192).includes(0)) return { why: "the file is binary" };
      return { path, file: real, text: read.toString("utf8"), modified: stat.mtimeMs };
    } finally {
      await handle.close();
    }
  } catch {
    return missing;
  }
}

const isLocalHost = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

/** Folders that development servers and builds serve at their root. */
const servedFolders = ["", "public", "dist", "build", "out", "static", "www", "src"] as const;

const decoded = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};

function servedFiles(folder: string, url: URL): string[] {
  const path = isLocalHost(url.hostname) ? decoded(url.pathname) : undefined;
  if (path === undefined) return [];
  // of Vite, for files outside of its root
  if (path.startsWith("/@fs/")) return [path.slice("/@fs".length)];
  // of Next.js
  const built = path.startsWith("/_next/") ? [join(folder, ".next", path.slice("/_next/".length))] : [];
  return [...built, ...servedFolders.map((it) => join(folder, it, path))];
}

/** Where the file of a frame may be on disk. A URL is never fetched. */
export function candidatesFor(folder: string, named: string): string[] {
  // webpack-internal:///./src/app.ts, webpack://shop/./src/app.ts
  const bundled =
    /^(?:webpack-internal:\/\/\/|webpack:\/\/[^/]*\/|turbopack:\/\/\/\[project\]\/)(?:\([^)]*\)\/)?(.+)$/.exec(named);
  const path = (bundled?.[1] ?? named).replace(/[?#].*$/, "");
  if (bundled) return [join(folder, path)];
  if (path.startsWith("file:")) {
    try {
      return [fileURLToPath(path)];
    } catch {
      return [];
    }
  }
  if (/^https?:\/\//i.test(path)) return URL.canParse(path) ? servedFiles(folder, new URL(path)) : [];
  if (/^[a-z][a-z+.-]+:/i.test(path)) return [];
  return [isAbsolute(path) ? path : join(folder, path)];
}

/** The first of the candidates that can be read, or why none can. */
export async function readNamed(folder: string, named: string): Promise<SourceReading> {
  let why: SourceReading = { why: "the frame's file is not one on this machine" };
  for (const candidate of candidatesFor(folder, named)) {
    const reading = await readBelow(folder, candidate);
    if ("text" in reading) return reading;
    why = reading;
  }
  return why;
}
