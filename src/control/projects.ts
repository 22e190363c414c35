import type { Call } from "../http/call.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Project } from "../model/world.ts";
import { allowKeys, bodyOf, pathNumber, wholeNumber } from "./body.ts";
import type { ControlDesk } from "./desk.ts";
import { givenInBody, objectOf } from "./flags/given.ts";
import { projectOf as existing } from "./flags/place.ts";
import { accessTo, makeProject, type ProjectOrder } from "./project-make.ts";
import { keysOf, removeProject } from "./project-removal.ts";
import { type ControlRow, endpointsOf } from "./rows.ts";

const most = Number.MAX_SAFE_INTEGER;
/** Names of tests may be long. */
const longestName = 1_000;

function nameIn(body: JsonObject): string | undefined {
  const name = givenInBody(body).text("name") || undefined;
  if (name === undefined || name.length <= longestName) return name;
  throw new SimError("invalid_input", `"name" is longer than ${longestName} characters`, {
    pointer: "/name",
  });
}

/** The template: the first project unless told; a world without projects has none to offer. */
function likeIn(desk: ControlDesk, { like }: JsonObject): Project | null {
  if (like === null) return null;
  if (like === undefined) return desk.worlds.current.projects[0] ?? null;
  return existing(desk, wholeNumber({ like }, "like", 0, { min: 1, max: most }), "/like");
}

const isFlagValue = (value: unknown): value is boolean | string =>
  typeof value === "boolean" || (typeof value === "string" && value !== "");

function flagsIn(body: JsonObject): ProjectOrder["flags"] {
  const flags = objectOf(givenInBody(body), "flags", "true, false or the key of a variant", isFlagValue);
  return Object.entries(flags ?? {}).flatMap(([key, value]) =>
    isFlagValue(value) ? [[key, value] as const] : [],
  );
}

function make(desk: ControlDesk, call: Call): Reply {
  const body = bodyOf(call);
  allowKeys(body, ["name", "like", "flags"]);
  const made = makeProject(desk, { name: nameIn(body), like: likeIn(desk, body), flags: flagsIn(body) });
  return json(accessTo(made, call.origin), 201);
}

function shown(desk: ControlDesk, project: Project) {
  const [personal] = keysOf(desk, project.id);
  return {
    id: project.id,
    name: project.name,
    api_key: project.api_key,
    secret_api_key: desk.keys.shownSecret(project),
    personal_api_key: personal === undefined ? null : desk.keys.shownPersonal(personal),
    ephemeral: project.ephemeral !== undefined,
    adopted: project.adopted,
    created_at: project.created_at,
  };
}

const list = (desk: ControlDesk): Reply =>
  json({ projects: desk.worlds.current.projects.map((it) => shown(desk, it)) });

async function remove(desk: ControlDesk, call: Call): Promise<Reply> {
  const id = pathNumber(call, "project", "project");
  removeProject(desk, existing(desk, id));
  return json({ deleted: id });
}

const path = "/__sim/projects";

const rows: readonly ControlRow<ControlDesk>[] = [
  ["GET", path, "The projects with their keys", list],
  ["POST", path, "Makes a project for one test: name, like, flags", make],
  ["DELETE", `${path}/:project`, "Removes a project that was made for a test, with all it has", remove],
];

/** Projects that tests make for themselves. */
export const projectEndpoints = (desk: ControlDesk) => endpointsOf(rows, desk);
