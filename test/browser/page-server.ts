import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";

/** How a page gets posthog-js. */
export type Loader = (sim: { url: string; apiKey: string }, config: object) => string;

const inline = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

/** What the usual snippet leaves behind: an array of calls to be made once the SDK is there. */
const queueScript = (apiKey: string, config: object): string =>
  `<script>
     window.posthog = Object.assign([], { _i: [[${inline(apiKey)}, ${inline(config)}, "posthog"]], people: [], __SV: 1 });
     window.posthog.push(["capture", "called before loading"]);
   </script>`;

const scriptOf = (url: string): string => `<script src="${url}" crossorigin="anonymous" async></script>`;

export const loaders = {
  "npm bundle": ({ apiKey }, config) =>
    `<script src="/bundle.js"></script>
     <script>posthog.init(${inline(apiKey)}, ${inline(config)}); posthog.capture("called before loading");</script>`,
  "snippet with /static/array.js": ({ url, apiKey }, config) =>
    queueScript(apiKey, config) + scriptOf(`${url}/static/array.js`),
  "snippet with /array/{token}/array.js": ({ url, apiKey }, config) =>
    queueScript(apiKey, config) + scriptOf(`${url}/array/${apiKey}/array.js`),
} satisfies Record<string, Loader>;

const page = (head: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head>
   <body><h1>Shop</h1><button id="buy" type="button">Buy now</button><input id="name"></body></html>`;

/** An application as npm users build theirs, with the SDK in the bundle. */
async function bundle(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: 'import posthog from "posthog-js"; window.posthog = posthog;', resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/** The server of an application's pages: another origin than the sim's. */
export interface PageServer extends AsyncDisposable {
  url: string;
  /** Serves this page from now on. */
  show(head: string): void;
}

export async function openPageServer(): Promise<PageServer> {
  const script = await bundle();
  let html = "";
  const server = createServer(({ url }, response) => {
    if (url === "/bundle.js") response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else if (url === "/favicon.ico") response.writeHead(204).end();
    else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    show: (head) => {
      html = page(head);
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
