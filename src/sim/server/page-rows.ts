import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SimError, systemCode } from "../../kernel/base/errors.ts";
import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import type { Call } from "../../kernel/http/call.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";

/** Only the page's own code and styles may run or load, and strings never become markup: captured data is hostile. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * Recorded pages bring their own styles, so they are shown in a document of their own. It connects to nothing: no
 * image, style or font is loaded by URL, and rrweb's frame inside it has a sandbox without scripts.
 */
const playerPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "font-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** `no-cache`: browsers keep a copy and revalidate it each time. Further headers are in http/reply.ts. */
const safetyWith = (contentPolicy: string): readonly string[] => [
  "content-security-policy",
  contentPolicy,
  "cross-origin-opener-policy",
  "same-origin",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-cache",
];

const assets = [
  ["/__sim", "index.html", "text/html; charset=utf-8", "Returns the inspector page"],
  ["/__sim/player", "player.html", "text/html; charset=utf-8", "Returns the frame that plays recordings"],
  ["/__sim/player.js", "player.js", "text/javascript; charset=utf-8", "Returns the code of that frame"],
  ["/__sim/app.js", "app.js", "text/javascript; charset=utf-8", "Returns the inspector's code"],
  ["/__sim/app.css", "app.css", "text/css; charset=utf-8", "Returns the inspector's styles"],
] as const;

/** The folder of the built page: in `dist`, which is above this file in a build, and next to `src` otherwise. */
function folderOfPage(): string | undefined {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const found of [join(folder, "inspector"), join(folder, "dist", "inspector")]) {
      if (existsSync(join(found, "index.html"))) return found;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

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
    throw systemCode(cause) === "ENOENT" ? noPart(file, cause) : cause;
  });
  return { body, tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
}

const safety = safetyWith(policy);
const playerSafety = safetyWith(playerPolicy);

function reply({ headers, path }: Call, type: string, { body, tag }: Asset): Reply {
  const tagged = [...(path === "/__sim/player" ? playerSafety : safety), "etag", tag];
  if (headers["if-none-match"] === tag) return { status: 304, headers: tagged, body: null };
  return { status: 200, headers: ["content-type", type, ...tagged], body };
}

const scriptType = "text/javascript; charset=utf-8";

/** What is loaded when a view is opened: the folder, which is in the path as well, and its files. */
const parts = [
  {
    folder: "app",
    name: /^[\w-]+\.js$/,
    type: scriptType,
    summary: "Returns a part of the inspector's code, loaded when its view is opened",
  },
  {
    folder: "styles",
    name: /^[\w-]+\.css$/,
    type: "text/css; charset=utf-8",
    summary: "Returns the styles of a view of the inspector",
  },
] as const;

const noPart = (name: string, cause?: unknown): SimError =>
  new SimError("not_found", `the inspector has no part "${name}"`, {
    hint: "phx-sim was rebuilt since the page was opened: reload the page",
    cause,
  });

const repliesOf = (type: string) => ({
  200: { description: "The file", type: type.split(";")[0] ?? type },
  304: { description: "The caller's copy is current" },
});

const assetRow = ([path, file, type, summary]: (typeof assets)[number]): Endpoint => {
  const asset = onFirstUse(() => read(file));
  return row({
    method: "GET",
    path,
    access: "page",
    summary,
    replies: repliesOf(type),
    handle: async ({ call }) => reply(call, type, await asset()),
  });
};

function partRow({ folder, name, type, summary }: (typeof parts)[number]): Endpoint {
  const known = new Map<string, () => Promise<Asset>>();
  const partOf = (part: string): Promise<Asset> => {
    const asset = known.get(part) ?? onFirstUse(() => read(join(folder, part)));
    return asset().then((it) => {
      known.set(part, asset);
      return it;
    });
  };
  return row({
    method: "GET",
    path: `/__sim/${folder}/:part`,
    access: "page",
    summary,
    replies: repliesOf(type),
    async handle({ call, params }) {
      if (!name.test(params.part)) throw noPart(params.part);
      return reply(call, type, await partOf(params.part));
    },
  });
}

/** The script of the badge, which other pages load: it has no data, and asks for counts (journal/badge-rows.ts). */
export const badgeScriptSlice = slice([], () => {
  const asset = onFirstUse(() => read("badge.js"));
  const script = row({
    method: "GET",
    path: "/__sim/badge.js",
    access: "page",
    summary: "Returns the script that shows a badge in the app's own page",
    replies: repliesOf(scriptType),
    handle: async ({ call }) => reply(call, scriptType, await asset()),
  });
  return [{ ...script, access: "badge", isEmbeddable: true }];
});

export const pageSlice = slice([], () => [...assets.map(assetRow), ...parts.map(partRow)]);
