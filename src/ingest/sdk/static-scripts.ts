import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SimError } from "../../base/errors.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { empty, type Reply, script, withHeaders } from "../../http/reply.ts";
import { findInstalled, fitting } from "./installed.ts";
import { fresh } from "./requests.ts";

/** A script's bytes and the tag that changes with them. */
interface SdkScript {
  bytes: Buffer;
  /** Strong ETag, quoted. */
  etag: string;
}

/** The scripts of posthog-js, read from where it is installed. */
export interface SdkScripts {
  /**
   * A file of the package's dist folder for a page of version `asked`, or a stub that does nothing.
   * @throws SimError not_found for a missing source map
   */
  read(name: string, asked: string | undefined): Promise<SdkScript>;
}

/** Plain file names only: no separators, no leading dot. */
const fileName = /^[A-Za-z0-9][\w-]*(\.[\w-]+)*\.(js|js\.map)$/;

/** toolbar.js is not published on npm; the page calls the function it defines. */
const stubs = new Map([
  ["toolbar.js", "window.ph_load_toolbar = window.ph_load_toolbar || function () {};\n"],
]);

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

/**
 * Looks for posthog-js in the `node_modules` of these folders and of all above them. Nothing is looked for
 * before the first script is asked for, and a package installed later is found.
 */
export function openScripts(starts: readonly string[]): SdkScripts {
  const readCached = fileCache();
  return {
    async read(name, asked) {
      const installed = fitting(await findInstalled(starts), asked);
      const file = installed && (await readCached(join(installed.dist, name)));
      return file ?? stub(name, asked);
    },
  };
}

const mapType = ["content-type", "application/json"];

/** The answer for a script; the browser asks again each time, and gets 304 while nothing changed. */
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

/** GET /static/{name}, /static/{version}/{name}: the SDK's own scripts, as the service's CDN has them. */
export const staticScriptEndpoints = (scripts: SdkScripts): Endpoint[] =>
  ["/static/:name", "/static/:version/:name"].map((path) => ({
    methods: ["GET"],
    path,
    family: "service",
    summary: "A script of posthog-js",
    handle: (call) => serve(call, scripts),
  }));

/** The service's URL of a site app is /site_app/{id}/{token}/{hash}/. */
const siteAppPaths = ["/site_app/:id", "/site_app/:id/:token", "/site_app/:id/:token/:hash"];

/** A site app that does nothing; the default remote config names none. */
export const siteAppEndpoints = (): Endpoint[] =>
  siteAppPaths.map((path) => ({
    methods: ["GET"],
    path,
    family: "service",
    summary: "A site app's script: one that does nothing",
    handle: () => fresh(script("/* phx-sim runs no site apps */\n")),
  }));
