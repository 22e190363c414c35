import type { Call } from "../http/call.ts";
import { bearerOf, queryToken } from "../http/credentials.ts";
import type { Family } from "../http/endpoint.ts";
import { decodedLimits } from "../ingest/packet.ts";
import { idInHeader } from "../ingest/project.ts";
import { decodeInto } from "../ingest/take-legacy.ts";
import { commonToken } from "../ingest/token.ts";
import { isObject, type Json, own } from "../kernel/json.ts";
import { atOnce } from "../kernel/work.ts";
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
    return bodyToken(atOnce(decodeInto(note, call, decodedLimits.v1, false)));
  } catch {
    return undefined;
  }
}

/** The families whose bodies events and flag requests come in. */
const decoded: ReadonlySet<Family> = new Set(["capture", "capture-v1", "flags"]);

const namedProject = /^\/api\/(?:projects|environments)\/(\d{1,15})(?:\/|$)/;

/** The project that a personal key is limited to; undefined when there are several. */
function projectOfPersonal(
  { worlds, keys }: Pick<Desk, "worlds" | "keys">,
  text: string,
): number | undefined {
  const key = worlds.current.personal_api_keys.find((it) => keys.shownPersonal(it) === text);
  const [only, ...others] = key?.scoped_teams ?? [];
  return others.length === 0 ? only : undefined;
}

function projectId(
  { worlds, keys, projectFor }: Pick<Desk, "worlds" | "keys" | "projectFor">,
  call: Call,
  token: string | undefined,
): number | null {
  const id = namedProject.exec(call.path)?.[1];
  if (id !== undefined) return worlds.projectById(Number(id))?.id ?? null;
  const keyInPath = call.params.token ?? call.path.split("/").find((it) => worlds.projectByKey(it));
  const key = token ?? queryToken(call) ?? keyInPath ?? bearerOf(call);
  if (key === undefined) return null;
  const project = projectFor(key) ?? keys.ownerOf(key);
  return project?.id ?? projectOfPersonal({ worlds, keys }, key) ?? null;
}

/** The project of a call that no row answers: by header, body, query, path or bearer. Changes nothing; never throws. */
export function ownerOfUnmatched(desk: Pick<Desk, "worlds" | "keys">, call: Call): number | null {
  const named = idInHeader(desk, call);
  if (named !== undefined) return named;
  const token = call.body.length > 0 ? tokenIn(call, {}) : undefined;
  return projectId({ ...desk, projectFor: (key) => desk.worlds.projectByKey(key) }, call, token);
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
