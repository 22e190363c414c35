import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProxyReport } from "../../../src/lab/proxy-check/client.ts";
import type { Files, ProgramName } from "./servers.ts";

type Code = ProxyReport["findings"][number]["code"];

/** A proxy as people configure it. */
export interface Configuration {
  readonly program: ProgramName;
  readonly what: string;
  /** What is wrong with it; undefined: nothing. */
  readonly code?: Code;
  /** Warnings that it deserves. */
  readonly warnings?: readonly Code[];
  readonly files: Files;
}

const nginx = (server: string, http = ""): Files => ({
  "nginx.conf": `
    user root; daemon off; pid FOLDER/nginx.pid; error_log stderr notice; worker_processes 1;
    events {}
    http {
      access_log off;
      client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi;
      uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi;
      ${http}
      server { listen 127.0.0.1:PORT; ${server} }
    }`,
});

const forwarded = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; client_max_body_size 20m;";

const caddy = (site: string): Files => ({
  Caddyfile: `
{
	admin off
	auto_https off
}
http://127.0.0.1:PORT {
${site}
}
`,
});

const vite = (proxy: string): Files => ({
  "vite.config.mjs": `export default { server: { proxy: ${proxy} }, cacheDir: "FOLDER/cache" };`,
});

const rewrites = `async rewrites() { return [
  { source: "/ingest/static/:path*", destination: "SIM/static/:path*" },
  { source: "/ingest/array/:path*", destination: "SIM/array/:path*" },
  { source: "/ingest/:path*", destination: "SIM/:path*" },
]; },`;

const next = (config: string): Files => ({ "next.config.mjs": `export default { devIndicators: false, ${config} };` });

/** A route handler that sends to the sim with this body. */
const handler = (body: string, headers = "headers"): Files => ({
  ...next("skipTrailingSlashRedirect: true,"),
  "app/ingest/[...path]/route.js": `
    async function pass(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host"); headers.delete("connection"); headers.delete("content-length"); headers.delete("transfer-encoding");
      const body = request.method === "POST" ? ${body} : undefined;
      const answer = await fetch("SIM" + pathname.slice("/ingest".length) + search, { method: request.method, headers: ${headers}, body, duplex: "half" });
      const back = new Headers(answer.headers);
      ANSWER
      return new Response(answer.body, { status: answer.status, headers: back });
    }
    export { pass as GET, pass as POST, pass as OPTIONS };
  `.replace("ANSWER", "back.delete('content-encoding'); back.delete('content-length');"),
});

/** What docs/proxies.md quotes, with the sim's own address. */
const quoted = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../usage/proxies", name), "utf8").replace("127.0.0.1:7490", "HOST");

/** Proxies without a mistake that loses anything. */
export const sound: readonly Configuration[] = [
  {
    program: "nginx",
    what: "keeps a project key only",
    files: nginx(
      `location /ingest/ { proxy_pass SIM/; proxy_set_header Authorization $posthog_key; ${forwarded} }`,
      'map $http_authorization $posthog_key { "~^Bearer phc_" $http_authorization; default ""; }',
    ),
  },
  {
    program: "caddy",
    what: "keeps a project key only",
    files: caddy(
      '@session not header Authorization "Bearer phc_*"\nrequest_header @session -Authorization\nhandle_path /ingest/* {\n reverse_proxy HOST {\n header_up Host {upstream_hostport}\n }\n}',
    ),
  },
  { program: "nginx", what: "location and proxy_pass with a slash", files: nginx(quoted("nginx.conf")) },
  {
    program: "nginx",
    what: "with compression of its own",
    files: nginx(
      `location /ingest/ { proxy_pass SIM/; ${forwarded} }`,
      "gzip on; gzip_types *; gzip_proxied any; gzip_min_length 1;",
    ),
  },
  {
    program: "nginx",
    what: "a rewrite in place of the slash, unbuffered",
    files: nginx(
      `location /ingest { rewrite ^/ingest/(.*)$ /$1 break; proxy_pass SIM; proxy_request_buffering off; proxy_http_version 1.1; ${forwarded} }`,
    ),
  },
  { program: "caddy", what: "handle_path", files: caddy(quoted("Caddyfile")) },
  {
    program: "caddy",
    what: "uri strip_prefix, with compression of its own",
    files: caddy(
      "encode gzip\n handle /ingest/* {\n uri strip_prefix /ingest\n reverse_proxy HOST {\n header_up Host {upstream_hostport}\n }\n}",
    ),
  },
  {
    program: "vite",
    what: "server.proxy with changeOrigin, rewrite and xfwd",
    files: vite(
      '{ "/ingest": { target: "SIM", changeOrigin: true, xfwd: true, rewrite: (path) => path.replace(/^\\/ingest/, "") } }',
    ),
  },
  {
    program: "vite",
    what: "the recipe's server.proxy",
    warnings: ["client_address_lost"],
    files: vite(
      '{ "/ingest": { target: "SIM", changeOrigin: true, rewrite: (path) => path.replace(/^\\/ingest/, "") } }',
    ),
  },
  {
    program: "next",
    what: "the recipe's rewrites",
    warnings: ["client_address_lost"],
    files: next(`skipTrailingSlashRedirect: true, ${rewrites}`),
  },
  { program: "next", what: "a route handler that passes bytes on", files: handler("await request.arrayBuffer()") },
];

/** Proxies with one mistake each. */
export const broken: readonly Configuration[] = [
  {
    program: "nginx",
    what: "no client_max_body_size",
    code: "body_too_large",
    files: nginx("location /ingest/ { proxy_pass SIM/; proxy_set_header X-Forwarded-For $remote_addr; }"),
  },
  {
    program: "nginx",
    what: "proxy_pass without a slash",
    code: "prefix_kept",
    files: nginx(`location /ingest/ { proxy_pass SIM; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "Host $http_host",
    code: "host_kept",
    files: nginx(`location /ingest/ { proxy_pass SIM/; proxy_set_header Host $http_host; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "Host $host",
    code: "host_kept",
    files: nginx(`location /ingest/ { proxy_pass SIM/; proxy_set_header Host $host; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "a rewrite that removes slashes",
    code: "redirect_slash",
    files: nginx(`rewrite ^/(.*)/$ /$1 permanent; location /ingest/ { proxy_pass SIM/; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "a redirect to another host",
    code: "redirected",
    files: nginx("location /ingest/ { return 301 http://localhost:PORT/www$request_uri; }"),
  },
  {
    program: "nginx",
    what: "a variable in proxy_pass without the query",
    code: "query_lost",
    files: nginx(`location ~ ^/ingest/(?<rest>.*)$ { set $to HOST; proxy_pass http://$to/$rest; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "Content-Encoding removed",
    code: "content_encoding",
    files: nginx(`location /ingest/ { proxy_pass SIM/; proxy_set_header Content-Encoding ""; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "Authorization removed",
    code: "authorization_lost",
    files: nginx(`location /ingest/ { proxy_pass SIM/; proxy_set_header Authorization ""; ${forwarded} }`),
  },
  {
    program: "nginx",
    what: "an Authorization of its own",
    code: "authorization_replaced",
    files: nginx(`location /ingest/ { proxy_pass SIM/; proxy_set_header Authorization "Basic dTpw"; ${forwarded} }`),
  },
  {
    program: "caddy",
    what: "Authorization removed",
    code: "authorization_lost",
    files: caddy(
      "handle_path /ingest/* {\n reverse_proxy HOST {\n header_up Host {upstream_hostport}\n header_up -Authorization\n }\n}",
    ),
  },
  {
    program: "vite",
    what: "Authorization removed",
    code: "authorization_lost",
    files: vite(
      `{ "/ingest": { target: "SIM", changeOrigin: true, xfwd: true, rewrite: (path) => path.replace(/^\\/ingest/, ""), configure: (proxy) => proxy.on("proxyReq", (request) => request.removeHeader("authorization")) } }`,
    ),
  },
  {
    program: "next",
    what: "a route handler that removes Authorization",
    code: "authorization_lost",
    files: handler("await request.arrayBuffer()", '(headers.delete("authorization"), headers)'),
  },
  {
    program: "nginx",
    what: "a cache of POST",
    code: "answer_cached",
    files: nginx(
      `location /ingest/flags { rewrite ^/ingest/(.*)$ /$1 break; proxy_pass SIM; proxy_cache all; proxy_cache_methods GET POST; proxy_cache_valid 200 1m; proxy_cache_key $request_uri; ${forwarded} }
       location /ingest/ { proxy_pass SIM/; ${forwarded} }`,
      "proxy_cache_path FOLDER/cache keys_zone=all:1m;",
    ),
  },
  {
    program: "nginx",
    what: "only /ingest/e",
    code: "not_passed_on",
    files: nginx(
      `client_max_body_size 20m; location /ingest/e { rewrite ^/ingest/(.*)$ /$1 break; proxy_pass SIM; proxy_set_header X-Forwarded-For $remote_addr; }`,
    ),
  },
  {
    program: "nginx",
    what: "an upstream that does not run",
    code: "upstream_fails",
    files: nginx("location /ingest/ { proxy_pass http://127.0.0.1:1/; }"),
  },
  {
    program: "caddy",
    what: "handle in place of handle_path",
    code: "prefix_kept",
    files: caddy("handle /ingest/* {\n reverse_proxy HOST {\n header_up Host {upstream_hostport}\n }\n}"),
  },
  {
    program: "caddy",
    what: "Host as it came",
    code: "host_kept",
    files: caddy("handle_path /ingest/* {\n reverse_proxy HOST {\n header_up Host {http.request.hostport}\n }\n}"),
  },
  {
    program: "caddy",
    what: "a limit of 1 MB",
    code: "body_too_large",
    files: caddy(
      "handle_path /ingest/* {\n request_body {\n max_size 1MB\n }\n reverse_proxy HOST {\n header_up Host {upstream_hostport}\n }\n}",
    ),
  },
  {
    program: "caddy",
    what: "a login for the whole site",
    code: "login",
    files: caddy(
      "basicauth {\n dev $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n}\n handle_path /ingest/* {\n reverse_proxy HOST\n}",
    ),
  },
  {
    program: "vite",
    what: "no rewrite",
    code: "prefix_kept",
    files: vite('{ "/ingest": { target: "SIM", changeOrigin: true, xfwd: true } }'),
  },
  {
    program: "vite",
    what: "no changeOrigin",
    code: "host_kept",
    files: vite('{ "/ingest": { target: "SIM", xfwd: true, rewrite: (path) => path.replace(/^\\/ingest/, "") } }'),
  },
  {
    program: "vite",
    what: "only /ingest/e",
    code: "not_passed_on",
    files: vite(
      '{ "/ingest/e": { target: "SIM", changeOrigin: true, xfwd: true, rewrite: (path) => path.replace(/^\\/ingest/, "") } }',
    ),
  },
  { program: "next", what: "no skipTrailingSlashRedirect", code: "redirect_slash", files: next(rewrites) },
  {
    program: "next",
    what: "a middleware that redirects to a locale",
    code: "redirected",
    files: {
      ...next(`skipTrailingSlashRedirect: true, ${rewrites}`),
      "middleware.js": `
        import { NextResponse } from "next/server";
        export default (request) => NextResponse.redirect(new URL("/en" + request.nextUrl.pathname, request.url));
        export const config = { matcher: ["/((?!_next|en).*)"] };`,
    },
  },
  {
    program: "next",
    what: "a prefix in the destination",
    code: "prefix_kept",
    files: next(
      'skipTrailingSlashRedirect: true, async rewrites() { return [{ source: "/ingest/:path*", destination: "SIM/ingest/:path*" }]; },',
    ),
  },
  {
    program: "next",
    what: "a route handler with request.text()",
    code: "body_text",
    files: handler("await request.text()"),
  },
  {
    program: "next",
    what: "a route handler with headers of its own",
    code: "content_encoding",
    files: handler(
      "await request.arrayBuffer()",
      '{ "content-type": request.headers.get("content-type") ?? "", "x-forwarded-for": "127.0.0.1" }',
    ),
  },
];
