import type { Call } from "../http/call.ts";
import { bearerOf, queryToken } from "../http/credentials.ts";
import type { Family } from "../http/endpoint.ts";
import { decodedLimits } from "../ingest/packet.ts";
import { idInHeader } from "../ingest/project.ts";
import { decodeInto } from "../ingest/take-legacy.ts";
import { commonToken } from "../ingest/token.ts";
import { isObject, type Json, own } from "../kernel/json.ts";
import type { Desk } from "../model/desk.ts";
import type { Note } from "../model/traffic.ts";

/** The key that a body carries, for all of it or in its items. */
function bodyToken(body: Json): string | undefined {
  const key = isObject(body) ? (own(body, "api_key") ?? own(body, "token")) : undefined;
  if (typeof key === "string") return key;
  return commonToken(Array.isArray(body) ? body : [body]);
}

/** Decodes the body into the note. A body that cannot be read tells nothing. */
function tokenIn(call: Call, note: Note): string | undefined {
  try {
    return bodyToken(decodeInto(note, call, decodedLimits.v1));
  } catch {
    return undefined;
  }
}

/** The families whose bodies events and flag requests come in. */
const decoded: ReadonlySet<Family> = new Set(["capture", "capture-v1", "flags"]);

const namedProject = /^\/api\/(?:projects|environments)\/(\d{1,15})(?:\/|$)/;

function projectId(
  { worlds, keys, projectFor }: Pick<Desk, "worlds" | "keys" | "projectFor">,
  call: Call,
  token: string | undefined,
): number | null {
  const id = namedProject.exec(call.path)?.[1];
  if (id !== undefined) return worlds.projectById(Number(id))?.id ?? null;
  const key = token ?? queryToken(call) ?? call.params.token ?? bearerOf(call);
  if (key === undefined) return null;
  const project = projectFor(key) ?? keys.ownerOf(key);
  return project?.id ?? null;
}

/**
 * What can be told of a call that no handler is to see: whose it is, by header, body, query, path or bearer, and what
 * its body says, with keys masked as always. Changes nothing unless `projectFor` does; never throws.
 */
export function peek(
  desk: Desk,
  call: Call,
  family: Family,
  projectFor: Desk["projectFor"] = (key) => desk.worlds.projectByKey(key),
): Note {
  const note: Note = {};
  const hasBody = call.body.length > 0 || call.query.has("data");
  const token = decoded.has(family) && hasBody ? tokenIn(call, note) : undefined;
  const named = family === "management" ? undefined : idInHeader(desk, call);
  note.project =
    named === undefined
      ? projectId({ worlds: desk.worlds, keys: desk.keys, projectFor }, call, token)
      : named;
  return note;
}
