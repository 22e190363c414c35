import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Call } from "../http/call.ts";
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

/** `no-cache` is: kept, but asked about each time. The files hold no data. The rest is in http/reply.ts. */
const safety = [
  "content-security-policy",
  policy,
  "cross-origin-opener-policy",
  "same-origin",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-cache",
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

/** A file of the page, and the tag by which a browser asks whether it is still the same. */
interface Asset {
  readonly body: Buffer;
  readonly tag: string;
}

async function read(file: string): Promise<Asset> {
  const folder = folderOfPage();
  if (folder === undefined) {
    throw new SimError("not_found", "the inspector page is not built", { hint: "run npm run build" });
  }
  const body = await readFile(join(folder, file)).catch((cause: unknown) => {
    throw noPart(file, cause);
  });
  return { body, tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
}

/** Reads a file when it is first asked for; a failure is not kept. */
function readOnce(file: string): () => Promise<Asset> {
  let asset: Promise<Asset> | undefined;
  return () => {
    asset ??= read(file).catch((error: unknown) => {
      asset = undefined;
      throw error;
    });
    return asset;
  };
}

function reply({ headers }: Call, type: string, { body, tag }: Asset): Reply {
  const tagged = [...safety, "etag", tag];
  if (headers["if-none-match"] === tag) return { status: 304, headers: tagged, body: null };
  return { status: 200, headers: ["content-type", type, ...tagged], body };
}

/** The code of the views; a name says what is in it, so that there is nothing to ask about. */
const partName = /^[\w-]+\.js$/;
const partType = "text/javascript; charset=utf-8";

/** A part of the inspector's code, by the name that the build gave it. */
function partEndpoint(): Endpoint {
  const parts = new Map<string, () => Promise<Asset>>();
  const partOf = (name: string): Promise<Asset> => {
    const known = parts.get(name) ?? readOnce(join("app", name));
    return known().then((asset) => {
      parts.set(name, known);
      return asset;
    });
  };
  return {
    methods: ["GET"],
    path: "/__sim/app/:part",
    family: "control",
    summary: "A part of the inspector's code, fetched when its view is opened",
    async handle(call) {
      const name = call.params.part ?? "";
      if (!partName.test(name)) throw noPart(name);
      return reply(call, partType, await partOf(name));
    },
  };
}

const noPart = (name: string, cause?: unknown): SimError =>
  new SimError("not_found", `the inspector has no part "${name}"`, {
    hint: "phx-sim was built anew since the page was opened: load it again",
    cause,
  });

/** The inspector's files, each read once. They hold no data: what is shown comes from the control API. */
export const pageEndpoints = (): Endpoint[] => [...assets.map(assetEndpoint), partEndpoint()];

function assetEndpoint([path, file, type, summary]: (typeof assets)[number]): Endpoint {
  const asset = readOnce(file);
  return {
    methods: ["GET"],
    path,
    family: "control",
    summary,
    handle: async (call): Promise<Reply> => reply(call, type, await asset()),
  };
}
