import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject } from "../../../kernel/base/json.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { empty, type Reply, script, withHeaders } from "../../../kernel/http/reply.ts";
import { fresh, serviceRow } from "./requests.ts";

interface SdkScript {
  bytes: Buffer;
  /** Strong ETag, quoted. */
  etag: string;
}

/** Plain file names only: no separators, no leading dot. */
const fileName = /^[A-Za-z0-9][\w-]*(\.[\w-]+)*\.(js|js\.map)$/;

/** toolbar.js is not on npm; the page calls the function that it defines. */
const stubs = new Map([["toolbar.js", "window.ph_load_toolbar = window.ph_load_toolbar || function () {};\n"]]);

/** `name` is safe inside a string literal: it has matched `fileName`. */
const missing = (name: string, asked: string | undefined): string => {
  const version = asked === undefined ? "" : ` ${asked.replace(/[^\w.-]/g, "")}`;
  return `console.warn("[phx-sim] ${name} is a stub: no fitting posthog-js${version} is installed beside the app or the sim (npm install posthog-js).");\n`;
};

function stub(name: string, asked: string | undefined): SdkScript {
  if (name.endsWith(".map")) throw new SimError("not_found", "Not found.");
  return { bytes: Buffer.from(stubs.get(name) ?? missing(name, asked)), etag: '"stub"' };
}

interface Cached extends SdkScript {
  mtimeMs: number;
  size: number;
}

/** Reads files, and keeps their bytes until the file changes. */
function fileCache() {
  const files = new Map<string, Cached>();
  return async (path: string): Promise<SdkScript | undefined> => {
    const now = await stat(path).catch(() => undefined);
    if (!now?.isFile()) return undefined;
    const kept = files.get(path);
    if (kept?.mtimeMs === now.mtimeMs && kept.size === now.size) return kept;
    const etag = `"${now.size.toString(16)}-${Math.trunc(now.mtimeMs).toString(16)}"`;
    const read = { bytes: await readFile(path), etag, mtimeMs: now.mtimeMs, size: now.size };
    files.set(path, read);
    return read;
  };
}

/** Finds posthog-js in these folders and all above them, at each request: one that is installed later is found. */
export function openScripts(starts: readonly string[]) {
  const readCached = fileCache();
  return {
    /** A file for a page of version `asked`, or a stub without effect. @throws SimError not_found for source maps */
    async read(name: string, asked: string | undefined) {
      const installed = fitting(await findInstalled(starts), asked);
      const file = installed && (await readCached(join(installed.dist, name)));
      return file ?? stub(name, asked);
    },
  };
}

export type SdkScripts = ReturnType<typeof openScripts>;

const mapType = ["content-type", "application/json"];

/** The browser revalidates each time, and gets 304 for an unchanged script. */
function answer(call: Call, name: string, found: SdkScript): Reply {
  const caching = ["etag", found.etag, "cache-control", "no-cache"];
  if (call.headers["if-none-match"] === found.etag) return withHeaders(empty(304), ...caching);
  const reply: Reply = name.endsWith(".map")
    ? { status: 200, headers: mapType, body: found.bytes }
    : script(found.bytes);
  return withHeaders(reply, ...caching);
}

async function serve(call: Call, scripts: SdkScripts): Promise<Reply> {
  const name = call.params.name ?? "";
  if (!fileName.test(name)) throw new SimError("not_found", "Not found.");
  const asked = call.params.version ?? call.query.get("v") ?? undefined;
  return answer(call, name, await scripts.read(name, asked));
}

export const staticScriptEndpoints = (scripts: SdkScripts): Endpoint[] =>
  ["/static/:name", "/static/:version/:name"].map((path) =>
    serviceRow(path, "A script of posthog-js", (call) => serve(call, scripts)),
  );

/** The service's URL of a site app is /site_app/{id}/{token}/{hash}/. */
const siteAppPaths = ["/site_app/:id", "/site_app/:id/:token", "/site_app/:id/:token/:hash"];

/** A site app without effect; the default remote config names none. */
export const siteAppEndpoints = (): Endpoint[] =>
  siteAppPaths.map((path) =>
    serviceRow(path, "A site app's script, without effect", () => fresh(script("/* phx-sim runs no site apps */\n"))),
  );

export interface Installed {
  version: string;
  dist: string;
}

function* upward(start: string): Generator<string> {
  let folder = start;
  while (true) {
    yield folder;
    const parent = dirname(folder);
    if (parent === folder) return;
    folder = parent;
  }
}

async function installedAt(folder: string): Promise<Installed | undefined> {
  const home = join(folder, "node_modules", "posthog-js");
  try {
    const manifest: unknown = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
    return isObject(manifest) && typeof manifest.version === "string"
      ? { version: manifest.version, dist: join(home, "dist") }
      : undefined;
  } catch {
    return undefined;
  }
}

/** All posthog-js packages that code in these folders can load, nearest first, each version once. */
async function findInstalled(starts: readonly string[]): Promise<Installed[]> {
  const folders = new Set(starts.flatMap((start) => [...upward(start)]));
  const found = await Promise.all([...folders].map(installedAt));
  const versions = new Map<string, Installed>();
  for (const one of found) {
    if (one && !versions.has(one.version)) versions.set(one.version, one);
  }
  return [...versions.values()];
}

/** "1.449.2" → [1, 449, 2]; undefined if it is not one to three numbers. */
function numbers(version: string): number[] | undefined {
  return /^\d{1,9}(\.\d{1,9}){0,2}$/.test(version) ? version.split(".").map(Number) : undefined;
}

/** Compares the parts that both have: 1 and 1.449.2 are equal. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, part] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 0;
    if (part !== other) return part - other;
  }
  return 0;
}

const partsOf = (installed: Installed): number[] => numbers(installed.version) ?? [0];

const newest = (all: readonly Installed[]): Installed | undefined =>
  all.toSorted((a, b) => compare(partsOf(b), partsOf(a)))[0];

/**
 * The package for a page of version `asked` (`1.449.2`, `1.449` or `1`): that version; else the newest of the same
 * minor version; else the newest later one of the same major version, as on the service's CDN. Never an earlier one:
 * it breaks a later page (measured: 1.200 under 1.449). Without a version: the nearest package.
 */
export function fitting(all: readonly Installed[], asked: string | undefined): Installed | undefined {
  const wanted = asked === undefined ? undefined : numbers(asked);
  if (!wanted) return all[0];
  const exact = all.find((one) => one.version === asked);
  if (exact) return exact;
  const sameMajor = all.filter((one) => partsOf(one)[0] === wanted[0]);
  const sameMinor = sameMajor.filter((one) => compare(wanted.slice(0, 2), partsOf(one)) === 0);
  return newest(sameMinor) ?? newest(sameMajor.filter((one) => compare(partsOf(one), wanted) >= 0));
}
