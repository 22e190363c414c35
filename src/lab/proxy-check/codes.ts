import type { ProxyFramework } from "./frameworks.ts";

/** `problem`: events, flags or recordings are lost. `warning`: they arrive, and something else is lost. */
type ProxyLevel = "problem" | "warning";

interface CodeRow {
  readonly level: ProxyLevel;
  readonly what: string;
  readonly cause: string;
  /** By framework; `other` for those without a fix of their own. */
  readonly fix: { readonly other: string } & { readonly [Name in ProxyFramework]?: string };
}

const bytes = {
  other:
    "pass the request's bytes on: the raw body or its stream, never the result of a body parser or of a conversion to text",
  next: 'use a rewrite in next.config; in a route handler pass request.body on with duplex: "half", or await request.arrayBuffer(), not request.text() or request.json()',
  nuxt: "use proxyRequest(event, target), or readRawBody(event, false), which reads bytes",
  sveltekit:
    'in handle or +server.ts pass event.request.body on with duplex: "half", or await request.arrayBuffer(), not request.text()',
  express: "mount the proxy before express.json(), express.text() and express.urlencoded()",
} as const;

const bearer = {
  other:
    "pass Authorization on where it is `Bearer phc_…` on paths below /i/v1/; a session's Authorization may be removed",
  next: 'rewrites pass it on; in a middleware or a route handler remove it only if it is not a project key: if (!/^Bearer phc_/.test(headers.get("authorization") ?? "")) headers.delete("authorization")',
  nginx:
    'map $http_authorization $posthog_key { "~^Bearer phc_" $http_authorization; default ""; } and, in location /ingest/i/v1/, proxy_set_header Authorization $posthog_key;',
  caddy:
    '@session not header Authorization "Bearer phc_*" and request_header @session -Authorization, in place of header_up -Authorization',
  express:
    'remove it only if it is not a project key: if (!/^Bearer phc_/.test(req.headers.authorization ?? "")) delete req.headers.authorization',
  vite: 'no removeHeader("authorization") in configure, or only if it is not `Bearer phc_…`',
  nuxt: "proxyRequest passes it on; a server middleware must not remove `Bearer phc_…`",
  sveltekit: "pass event.request.headers on, and remove Authorization only if it is not `Bearer phc_…`",
  cloudflare:
    'in the Worker: if (!/^Bearer phc_/.test(headers.get("authorization") ?? "")) headers.delete("authorization")',
  vercel: "rewrites of vercel.json pass it on; a middleware must not remove `Bearer phc_…`",
} as const;

/** Every finding: what it means and what to do. */
export const proxyCodes = {
  unreachable: {
    level: "problem",
    what: "nothing answers at the proxy's address",
    cause: "the app is not running, or listens on another port or host name",
    fix: {
      other: "start the app, or correct the address; try 127.0.0.1 and [::1] in place of localhost",
      vite: "start it with --host 127.0.0.1, or name the address that it prints",
    },
  },
  timeout: {
    level: "problem",
    what: "the proxy does not answer in time",
    cause: "it waits for a body that something has read already, or for an upstream that does not answer",
    fix: {
      other: "pass the body's stream on before anything reads it, and correct the upstream's address",
      express:
        "mount the proxy before express.json() and other body parsers: they read the body, and the proxy waits for it",
      nginx: "correct proxy_pass: the upstream does not answer (error.log has its address)",
    },
  },
  connection_cut: {
    level: "problem",
    what: "the proxy ends the connection without an answer",
    cause: "it crashes on the request, or refuses its size",
    fix: { other: "read the proxy's log: an exception, or a limit of the body's size" },
  },
  upstream_fails: {
    level: "problem",
    what: "the proxy answers with an error, and the request does not arrive at the sim",
    cause:
      "the proxy does not reach its upstream: another port, a name that it cannot resolve, or a sim that has ended",
    fix: {
      other: "set the proxy's upstream to the address of the sim, and restart it: most frameworks read it once",
      next: "set POSTHOG_HOST to the address of the sim and restart next: rewrites are read at the start",
      vite: "set server.proxy[…].target to the address of the sim, and restart vite",
      nginx: "correct proxy_pass; with a variable in it nginx also needs a resolver",
      caddy: "correct the address of reverse_proxy; for https upstreams name the scheme",
    },
  },
  real_service: {
    level: "problem",
    what: "the proxy sends to PostHog's service, not to this sim",
    cause: "its upstream is fixed, or the variable with the address was not set when it started",
    fix: {
      other: "read the upstream from a variable, set it to the address of the sim, and restart the proxy",
      next: "use process.env.POSTHOG_HOST as destination of the rewrites, set it to the address of the sim, and restart next",
      vite: "use process.env.POSTHOG_HOST as target in server.proxy, and start vite with it set to the address of the sim",
      nginx: "set proxy_pass to the address of the sim, and reload nginx",
      caddy: "set the address of reverse_proxy to that of the sim, and reload caddy",
    },
  },
  other_sim: {
    level: "problem",
    what: "the proxy sends to another phx-sim",
    cause: "its upstream has the port of another sim",
    fix: { other: "set the proxy's upstream to the address of this sim, or name the other one with --url" },
  },
  redirect_slash: {
    level: "problem",
    what: "the proxy redirects to add or remove a trailing slash: browsers repeat a POST without its body, or not at all",
    cause: "SDKs send paths with a slash at their end, and the framework has one form of each path",
    fix: {
      other: "exclude the proxy's path from the redirect of trailing slashes",
      next: "set skipTrailingSlashRedirect: true in next.config",
      sveltekit: 'export const trailingSlash = "ignore" in the proxy\'s +server.ts',
      nginx: "write the location without a file test: location /ingest/ { proxy_pass …; }, and no rewrite of slashes",
      caddy: "use handle_path /ingest/*, and no redir of slashes for it",
    },
  },
  redirected: {
    level: "problem",
    what: "the proxy redirects the request to another address",
    cause: "a middleware for locales, a login, https or a host name answers before the proxy",
    fix: {
      other: "let the proxy's path pass before anything that redirects",
      next: 'exclude the path in the middleware\'s matcher: matcher: ["/((?!ingest|_next).*)"]',
      nuxt: "return from the server middleware if the path begins with the proxy's prefix",
      sveltekit: "answer the proxy's path first in handle (src/hooks.server.ts), before locale and login",
      nginx: "put the location of the proxy before redirects (return 301, rewrite … permanent)",
      caddy: "put the proxy into a handle of its own, before redir",
    },
  },
  redirect_loop: {
    level: "problem",
    what: "the proxy redirects in a circle",
    cause: "two rules undo each other, mostly one that adds a slash and one that removes it",
    fix: {
      other: "exclude the proxy's path from one of the two rules",
      next: "set skipTrailingSlashRedirect: true, and remove the redirect of the middleware or the host for this path",
    },
  },
  login: {
    level: "problem",
    what: "the proxy's path requires a login, or access is refused",
    cause:
      "an authentication, a check against CSRF or a firewall covers all paths of the app; visitors send events before they log in",
    fix: {
      other: "exclude the proxy's path from the authentication and such checks",
      next: 'exclude the path in the middleware\'s matcher: matcher: ["/((?!ingest|_next).*)"]',
      nginx: "auth_basic off; in the location of the proxy",
      caddy: "put the proxy into a handle of its own, before basic_auth",
    },
  },
  not_passed_on: {
    level: "problem",
    what: "the app answers the request itself: it does not reach the sim",
    cause: "no rule of the proxy covers this path or method, and the app's page or a 404 answers",
    fix: {
      other:
        "pass on every path below the prefix, with every method: /e, /i, /s, /flags, /batch, /array, /static, /api",
      next: 'add { source: "/ingest/:path*", destination: host + "/:path*" }, and before it the rules for /static and /array',
      vite: 'server.proxy needs the prefix as key: "/ingest": { target, changeOrigin: true, rewrite }',
      nuxt: 'routeRules: { "/ingest/**": { proxy: host + "/**" } }',
      sveltekit: "a +server.ts in routes/ingest/[...path] with GET, POST and OPTIONS (or fallback)",
      nginx: "location /ingest/ { proxy_pass http://sim/; }: a location with = covers one path only",
      caddy: "handle_path /ingest/* covers everything below it; /ingest alone covers one path",
    },
  },
  swallowed: {
    level: "problem",
    what: "the proxy answers 200, and nothing arrives at the sim",
    cause: "a handler, a service worker, a mock or a blocker answers in its place",
    fix: { other: "find what answers the path before the proxy: a route of the app, a mock of tests, a cache" },
  },
  prefix_kept: {
    level: "problem",
    what: "the proxy passes its prefix on: the service has no such path",
    cause: "the path is passed on as it is",
    fix: {
      other: "remove the prefix before the request is passed on",
      next: 'end the destination in /:path*, without the prefix: destination: host + "/:path*"',
      vite: 'add rewrite: (path) => path.replace(/^\\/ingest/, "")',
      nuxt: 'end the proxy\'s address in /**: { proxy: host + "/**" }',
      sveltekit: "build the address from params.path, not from url.pathname",
      nginx: "end proxy_pass in a slash: proxy_pass http://sim/;",
      caddy: "handle_path in place of handle, or uri strip_prefix /ingest",
      express: 'app.use("/ingest", …) removes it; with http-proxy-middleware add pathRewrite: { "^/ingest": "" }',
    },
  },
  path_changed: {
    level: "problem",
    what: "the request arrives at another path",
    cause: "a rewrite drops or adds a part of the path",
    fix: {
      other: "pass on everything after the prefix as it is",
      next: "use :path* in source and destination; :path covers one part only",
      nginx: "location and proxy_pass must both end in a slash, or neither",
    },
  },
  method_changed: {
    level: "problem",
    what: "the request arrives with another method",
    cause: "the proxy follows a redirect of its upstream, or has one method fixed",
    fix: { other: "pass the request's method on, and address the upstream so that it does not redirect" },
  },
  query_lost: {
    level: "problem",
    what: "the query does not arrive: compression and version of the request are unknown",
    cause: "the proxy builds the address from the path alone",
    fix: {
      other: "append the query to the upstream's address",
      next: "in a route handler append request.nextUrl.search",
      nuxt: "append getRequestURL(event).search, or use proxyRequest",
      sveltekit: "append url.search",
      nginx: "with a variable in proxy_pass append $is_args$args",
    },
  },
  query_changed: {
    level: "problem",
    what: "the query arrives changed",
    cause: "it is parsed and written again, or the rewrite adds its own parameters",
    fix: {
      other: "pass the query on as the text that it is",
      next: "no named parameter in a rewrite's source that its destination does not use: Next.js appends those to the query",
    },
  },
  body_text: {
    level: "problem",
    what: "the body arrives damaged: its bytes were read as text",
    cause: "gzip is not text: each byte that is not UTF-8 becomes U+FFFD, or two bytes",
    fix: bytes,
  },
  body_decompressed: {
    level: "problem",
    what: "the body arrives decompressed",
    cause: "a body parser or a layer in between inflates it",
    fix: {
      ...bytes,
      other: "pass the compressed bytes on, or remove Content-Encoding and compression= with the compression",
    },
  },
  body_missing: {
    level: "problem",
    what: "the request arrives without its body",
    cause: "a body parser has read it before the proxy, or the proxy passes on the head only",
    fix: bytes,
  },
  body_truncated: {
    level: "problem",
    what: "only the beginning of the body arrives",
    cause: "a limit of the body's size, or a length that was counted in characters",
    fix: {
      ...bytes,
      other: "raise the limit to 20 MB, and count Content-Length in bytes",
      next: "exclude the path in the middleware's matcher: Next.js cuts bodies off that a middleware may read",
    },
  },
  body_reencoded: {
    level: "problem",
    what: "the body arrives in another form",
    cause: "it was parsed and written again, or encoded as base64",
    fix: { ...bytes, other: `${bytes.other}; in functions (Lambda) decode isBase64Encoded bodies first` },
  },
  body_changed: {
    level: "problem",
    what: "the body arrives with other bytes",
    cause: "something in between changes it",
    fix: bytes,
  },
  body_too_large: {
    level: "problem",
    what: "the proxy refuses large bodies: recordings are lost",
    cause: "a limit of the body's size, 1 MB by default in nginx and in Next.js API routes, 100 kB in Express",
    fix: {
      other: "raise the limit to 20 MB",
      next: "use a rewrite; in an API route export const config = { api: { bodyParser: false } }",
      nuxt: "raise the limit of the host's body size, or use routeRules with proxy, which streams",
      sveltekit: "set BODY_SIZE_LIMIT=20M (adapter-node)",
      nginx: "client_max_body_size 20m; in the location of the proxy",
      caddy: "request_body { max_size 20MB } in the proxy's handle, or no limit",
      express: 'mount the proxy before express.json(), or { limit: "20mb" }',
    },
  },
  content_type: {
    level: "problem",
    what: "Content-Type arrives changed, or not at all",
    cause: "the proxy sets headers of its own: fetch with a text as body sends text/plain",
    fix: {
      other: "pass Content-Type on",
      next: "in a route handler pass headers: request.headers on (without host)",
      nginx: "no proxy_set_header Content-Type, and proxy_pass_request_headers on",
    },
  },
  content_encoding: {
    level: "problem",
    what: "Content-Encoding arrives changed, or not at all: the service cannot decompress the body",
    cause: "the proxy passes selected headers on, or decompressed the body",
    fix: {
      other: "pass Content-Encoding on, with the body as it is",
      next: "in a route handler pass headers: request.headers on (without host)",
      nginx: 'no proxy_set_header Content-Encoding ""',
    },
  },
  authorization_lost: {
    level: "problem",
    what: "Authorization does not arrive: SDKs of November 2026 and later send the project key in it, and lose every event with 401",
    cause:
      "the proxy removes Authorization, as PostHog's proxy guides before 29 October 2026 did, so that no session token leaves the app",
    fix: bearer,
  },
  authorization_replaced: {
    level: "problem",
    what: "another Authorization arrives than the SDK sent: its events are lost with 401",
    cause: "the proxy sets an Authorization of its own, such as a login for the upstream",
    fix: { ...bearer, other: `set no Authorization on the proxy's path; ${bearer.other}` },
  },
  duplicated: {
    level: "problem",
    what: "the request arrives more than once",
    cause: "the proxy repeats a request whose answer is late or that failed",
    fix: {
      other: "switch off retries of POST",
      nginx: "proxy_next_upstream off, or without non_idempotent",
      caddy: "no lb_try_duration for this proxy",
    },
  },
  status_changed: {
    level: "problem",
    what: "the request arrives, and the proxy answers with another status than the sim",
    cause: "an error while the answer is passed on, or a status of the proxy's own",
    fix: { other: "pass the upstream's status on; the proxy's log has the error" },
  },
  answer_cached: {
    level: "problem",
    what: "the proxy answers from a cache: a user gets the flags of another one",
    cause: "POST /flags has the same address for every user, and the proxy stores its answer",
    fix: {
      other: "no cache for the proxy's path",
      next: 'fetch(…, { cache: "no-store" }), and export const dynamic = "force-dynamic" in a route handler',
      nuxt: "no swr, isr or cache in the routeRules of the path",
      nginx: "proxy_cache off, and no proxy_cache_methods POST",
      caddy: "no cache directive in the proxy's handle",
    },
  },
  answer_replaced: {
    level: "problem",
    what: "the answer arrives as a page of HTML",
    cause: "a page for errors or a challenge stands in for the upstream's answer",
    fix: {
      other: "pass the upstream's answer on as it is",
      nginx: "proxy_intercept_errors off in the location of the proxy",
    },
  },
  answer_changed: {
    level: "problem",
    what: "the body of the answer is changed",
    cause: "it was read as text or JSON and written again, or something is inserted",
    fix: { other: "pass the bytes of the answer on", nginx: "no sub_filter in the location of the proxy" },
  },
  answer_encoding: {
    level: "problem",
    what: "Content-Encoding of the answer does not fit its body: browsers cannot read it",
    cause: "fetch decompresses the answer, and the header is passed on as if it had not",
    fix: {
      other: "remove content-encoding and content-length of the answer if fetch has decompressed it",
      next: "use a rewrite; in a route handler delete content-encoding and content-length of the answer's headers",
      nuxt: "use proxyRequest(event, target), which removes them",
      sveltekit: "delete content-encoding and content-length of the answer's headers",
    },
  },
  answer_type: {
    level: "problem",
    what: "Content-Type of the answer is changed: browsers do not run scripts, and SDKs do not read JSON",
    cause: "the proxy sets a type of its own, by its own rules or the ending of the path",
    fix: {
      other: "pass Content-Type of the answer on",
      nginx: "no types, default_type or add_header Content-Type in the location of the proxy",
    },
  },
  host_kept: {
    level: "problem",
    what: "the app's own host name arrives as Host: the real service does not answer for it",
    cause: "the proxy passes the header Host on; the sim answers to every name, the service only to its own",
    fix: {
      other: "set Host to the upstream's host name",
      vite: "changeOrigin: true",
      nginx: "proxy_set_header Host $proxy_host; (and proxy_ssl_server_name on; for https)",
      caddy: "header_up Host {upstream_hostport}",
      next: "in a route handler delete host of the headers that are passed on",
      express: "changeOrigin: true",
    },
  },
  cors: {
    level: "warning",
    what: "pages of another origin may not send to the proxy: its preflight is not allowed",
    cause: "the proxy answers OPTIONS itself, or removes the headers of CORS",
    fix: {
      other:
        "nothing, if only pages of the same host use the proxy; else pass OPTIONS and the headers Access-Control-… on",
      vite: "server.cors: true",
      nginx: "no if ($request_method = OPTIONS), and no proxy_hide_header Access-Control-Allow-Origin",
    },
  },
  client_address_lost: {
    level: "warning",
    what: "the client's address does not arrive: every user has the location of the server",
    cause: "the proxy sends no X-Forwarded-For",
    fix: {
      other: "append the client's address to X-Forwarded-For",
      vite: "xfwd: true (in development it has no effect on anyone)",
      nginx: "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
      caddy: "no header_up -X-Forwarded-For",
      express: "xfwd: true",
      nuxt: "set x-forwarded-for in proxyRequest(event, target, { headers })",
      sveltekit: "set x-forwarded-for to event.getClientAddress()",
      next: "nothing, if the host in front of Next.js sets X-Forwarded-For, as Vercel and nginx do: rewrites pass it on; in a route handler pass it on",
    },
  },
} as const satisfies Record<string, CodeRow>;

export type ProxyCode = keyof typeof proxyCodes;

/** The row, with a fix for every framework readable. */
export const codeRow = (code: ProxyCode): CodeRow => proxyCodes[code];
