import { isObject, type Json, own } from "../../kernel/base/json.ts";
import { atOnce } from "../../kernel/base/work.ts";
import type { Call } from "../../kernel/http/call.ts";
import { bearerOf, queryToken } from "../../kernel/http/call.ts";
import type { Family } from "../../kernel/http/family.ts";
import type { DecodeStep } from "../../state/journal/request-shapes.ts";
import type { DecodedBody, JsonText } from "../../state/journal/traffic.ts";
import { decodeLegacy } from "./decode.ts";
import type { Desk } from "./desk.ts";
import { commonToken } from "./open.ts";
import { decodedLimits } from "./packet.ts";
import { idInHeader } from "./project.ts";
import { noteBody } from "./take-legacy.ts";

const withBodies: ReadonlySet<Family> = new Set(["capture", "capture-v1", "flags"]);

function bodyToken(body: Json): string | undefined {
  const key = isObject(body) ? (own(body, "api_key") ?? own(body, "token")) : undefined;
  if (typeof key === "string") return key;
  return commonToken(Array.isArray(body) ? body : [body]);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The body, decoded at the first call; the handler uses it again (take-legacy.ts). */
function decodedBody(call: Call): DecodedBody {
  const { record } = call;
  if (record.decoded) return record.decoded;
  const steps: DecodeStep[] = [];
  const json = attempt((): JsonText => atOnce(decodeLegacy(call, decodedLimits.v1, steps, false)));
  record.decoded = { steps, json, token: json && attempt(() => bodyToken(json.value)) };
  return record.decoded;
}

const hasBody = (call: Call): boolean => call.body.length > 0 || call.query.has("data");

const namedProject = /^\/api\/(?:projects|environments)\/(\d{1,15})(?:\/|$)/;

type Owners = Pick<Desk, "worlds" | "keys">;

/** The project that a personal key is limited to; undefined when there are several. */
function projectOfPersonal({ worlds, keys }: Owners, text: string): number | undefined {
  const key = worlds.current.personal_api_keys.find((it) => keys.shownPersonal(it) === text);
  const [only, ...others] = key?.scoped_teams ?? [];
  return others.length === 0 ? only : undefined;
}

function projectId(
  { worlds, keys }: Owners,
  call: Call,
  token: string | undefined,
  projectFor: Desk["projectFor"],
): number | null {
  const id = namedProject.exec(call.path)?.[1];
  if (id !== undefined) return worlds.projectById(Number(id))?.id ?? null;
  const keyInPath = call.params.token ?? call.path.split("/").find((it) => worlds.projectByKey(it));
  const key = token ?? queryToken(call) ?? keyInPath ?? bearerOf(call);
  if (key === undefined) return null;
  const project = projectFor(key) ?? keys.ownerOf(key);
  return project?.id ?? projectOfPersonal({ worlds, keys }, key) ?? null;
}

export function createCallOwners(desk: Owners & Pick<Desk, "projectFor">) {
  const known: Desk["projectFor"] = (key) => desk.worlds.projectByKey(key);

  const bodyOf = (call: Call): DecodedBody | undefined =>
    withBodies.has(call.family) && hasBody(call) ? decodedBody(call) : undefined;

  /** The project of a call. `adopts`: a key that no project has may become a project. */
  function owner(call: Call, adopts = false): number | null {
    const token = bodyOf(call)?.token;
    const named = call.family === "management" ? undefined : idInHeader(desk, call);
    return named === undefined ? projectId(desk, call, token, adopts ? desk.projectFor : known) : named;
  }

  return {
    owner,
    /** The text of its body, with keys masked. */
    text: (call: Call): string | undefined => call.record.text ?? bodyOf(call)?.json?.text,
    /** Fills the record of a call that no handler sees. */
    identify(call: Call, adopts: boolean): void {
      const { record } = call;
      const body = bodyOf(call);
      if (body) noteBody(record, body.json, body.steps);
      record.project = owner(call, adopts);
    },
    /** The project of a call that no row answers. */
    ofUnmatched(call: Call): number | null {
      const named = idInHeader(desk, call);
      if (named !== undefined) return named;
      return projectId(desk, call, call.body.length > 0 ? decodedBody(call).token : undefined, known);
    },
  };
}

/** Finds out whose a call is before, or without, its handler. Nothing of it throws. */
export type CallOwners = ReturnType<typeof createCallOwners>;
