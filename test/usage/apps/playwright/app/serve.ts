import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const sdk = createRequire(import.meta.url).resolve("posthog-js/dist/array.full.js");

const files: Record<string, [type: string, file: string]> = {
  "/": ["text/html; charset=utf-8", join(import.meta.dirname, "index.html")],
  "/consent": ["text/html; charset=utf-8", join(import.meta.dirname, "consent.html")],
  "/posthog.js": ["text/javascript; charset=utf-8", sdk],
};

/** Serves the shop on a free port. What else is asked for is answered with `{}` and noted. */
export async function serveShop() {
  const elsewhere: string[] = [];
  const server = createServer(({ method, url = "/" }, response) => {
    const [type, file] = files[url.replace(/\?.*$/, "")] ?? [];
    if (type === undefined || file === undefined) {
      elsewhere.push(`${method} ${url}`);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      return;
    }
    response.writeHead(200, { "content-type": type }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    elsewhere,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
