import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Endpoint } from "../http/endpoint.ts";
import type { Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";

/**
 * Nothing but the page's own code and styles may run or load, and nothing may be made into markup: captured data is
 * hostile text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const safety = [
  "content-security-policy",
  policy,
  "x-content-type-options",
  "nosniff",
  "cross-origin-opener-policy",
  "same-origin",
  "cross-origin-resource-policy",
  "same-origin",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-store",
];

/** What the page is made of; there is nothing else to be had. */
const assets = [
  ["/__sim", "index.html", "text/html; charset=utf-8", "The inspector page"],
  ["/__sim/app.js", "app.js", "text/javascript; charset=utf-8", "The inspector's code"],
  ["/__sim/app.css", "app.css", "text/css; charset=utf-8", "The inspector's styles"],
] as const;

/** Where the page was built: in `dist`, which is above this file once it is built, and beside `src` before. */
function folderOfPage(): string | undefined {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const found of [join(folder, "inspector"), join(folder, "dist", "inspector")]) {
      if (existsSync(join(found, "index.html"))) return found;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function read(file: string): Buffer {
  const folder = folderOfPage();
  if (folder !== undefined) return readFileSync(join(folder, file));
  throw new SimError("not_found", "the inspector page is not built", { hint: "run npm run build" });
}

/** The inspector. */
export const pageEndpoints = (): Endpoint[] =>
  assets.map(([path, file, type, summary]) => ({
    methods: ["GET"],
    path,
    family: "control",
    summary,
    handle: (): Reply => ({ status: 200, headers: ["content-type", type, ...safety], body: read(file) }),
  }));
