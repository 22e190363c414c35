import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";

const folder = join(import.meta.dirname, "apps");

/** What the first line of an app's page may set. */
interface PageOptions {
  /** Content-Security-Policy. */
  csp?: string;
  /** What the app's reverse proxy below /ingest does. */
  proxy?: "good" | "redirect" | "prefix" | "body" | "partial";
  status?: number;
  clicks?: string[];
}

/** posthog-js as npm users bundle it: as a module, and as a script that sets `window.posthog`. */
export async function bundledSdk(): Promise<{ module: Uint8Array; script: Uint8Array }> {
  const [module, script] = await Promise.all(
    [
      { contents: 'export { default } from "posthog-js";', format: "esm" as const },
      { contents: 'import posthog from "posthog-js"; window.posthog = posthog;', format: "iife" as const },
    ].map(async ({ contents, format }) => {
      const options = { bundle: true, write: false, logLevel: "error", format } as const;
      const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: import.meta.dirname } });
      return outputFiles[0]?.contents ?? new Uint8Array();
    }),
  );
  return { module: module ?? new Uint8Array(), script: script ?? new Uint8Array() };
}

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => Buffer.concat(await request.toArray());

/** Reverse proxies: one that works, and the usual mistakes. */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  kind: NonNullable<PageOptions["proxy"]>,
  upstream: string,
): Promise<void> {
  const { url = "/", method = "GET", headers } = request;
  if (kind === "redirect" && method === "POST") {
    response.writeHead(307, { location: url.replace("/ingest", "/en/ingest") }).end();
    return;
  }
  if (kind === "partial" && url.startsWith("/ingest/flags")) {
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>");
    return;
  }
  const target = kind === "prefix" ? url : url.replace("/ingest", "");
  const bytes = await bytesOf(request);
  // A body parser makes text of it.
  const body = kind === "body" ? Buffer.from(bytes.toString("utf8"), "utf8") : bytes;
  const passed = Object.entries(headers).filter(([name]) => !/^(?:host|connection|content-length)$/.test(name));
  const answer = await fetch(upstream + target, {
    method,
    headers: passed.map(([name, value]): [string, string] => [name, String(value)]),
    ...(bytes.length > 0 && { body }),
    redirect: "manual",
  });
  const type = answer.headers.get("content-type");
  response.writeHead(answer.status, type === null ? {} : { "content-type": type });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

export interface ServedApp extends AsyncDisposable {
  readonly url: string;
  readonly options: PageOptions;
}

/** A port at which nothing answers. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Serves an app's page at every address that has no file; its proxy passes requests on to the sim. */
export async function serveApp(
  app: string,
  sim: string,
  sdk: { module: Uint8Array; script: Uint8Array },
): Promise<ServedApp> {
  const text = readFileSync(join(folder, app), "utf8");
  const [, json] = /^<!-- (\{.*\}) -->/.exec(text) ?? [];
  const options: PageOptions = json === undefined ? {} : JSON.parse(json);
  const script = { "content-type": "text/javascript" };
  let html = text;
  const server = createServer((request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?");
    if (options.proxy && path.startsWith("/ingest/")) void pass(request, response, options.proxy, sim);
    else if (path === "/posthog.mjs") response.writeHead(200, script).end(sdk.module);
    else if (path === "/posthog.js") response.writeHead(200, script).end(sdk.script);
    else if (path === "/snippet.js") response.writeHead(200, script).end(readFileSync(join(folder, "snippet.js")));
    else if (path.includes(".") || path.includes("/ingest/")) response.writeHead(404).end();
    else {
      const csp = options.csp === undefined ? {} : { "content-security-policy": options.csp };
      response.writeHead(options.status ?? 200, { "content-type": "text/html; charset=utf-8", ...csp }).end(html);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  html = text.replaceAll("{{origin}}", origin).replaceAll("{{dead}}", `http://127.0.0.1:${await deadPort()}`);
  return {
    url: `${origin}/`,
    options,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
