import { SimError } from "../../kernel/base/errors.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import { projectHeader, projectParameter } from "../../state/journal/traffic.ts";
import type { Desk } from "./desk.ts";
import { tokenFault } from "./open.ts";
import type { Packet } from "./packet.ts";

const unknownKey = "Project API key invalid. You can find your project API key in PostHog project settings.";

type Named = Pick<Packet, "headers" | "query">;

const nameIn = ({ headers, query }: Named): string | undefined =>
  headers[projectHeader] ?? query.get(projectParameter) ?? undefined;

/** The project that `X-Phx-Project` or `phx_project` names: it precedes every key. @throws SimError unknown_project */
export function projectByHeader({ worlds }: Pick<Desk, "worlds">, packet: Named): StoredProject | undefined {
  const name = nameIn(packet);
  if (name === undefined) return undefined;
  const project = projectNamed({ worlds }, name);
  if (project) return project;
  throw new SimError("unknown_project", `X-Phx-Project: no project has the number or key "${name}"`);
}

function projectNamed({ worlds }: Pick<Desk, "worlds">, name: string): StoredProject | undefined {
  const id = /^[1-9]\d{0,14}$/.test(name) ? Number(name) : undefined;
  return worlds.projectByKey(name) ?? (id === undefined ? undefined : worlds.projectById(id));
}

/** The number of the project that is named so; null: there is none; undefined without a name. */
export function idInHeader(desk: Pick<Desk, "worlds">, call: Named): number | null | undefined {
  const name = nameIn(call);
  return name === undefined ? undefined : (projectNamed(desk, name)?.id ?? null);
}

/** The project of a well-formed key; a known key needs no look at its spelling. */
function find(desk: Desk, token: string, malformed: (reason: string) => SimError): StoredProject | undefined {
  const known = desk.worlds.projectByKey(token);
  if (known) return known;
  const key = token.trim();
  const fault = tokenFault(key);
  if (fault !== undefined) throw malformed(fault);
  return desk.projectFor(key);
}

/** undefined: an unknown key (dialect `production`). @throws SimError malformed_token, invalid_api_key */
export function legacyProject(desk: Desk, token: string): StoredProject | undefined {
  const malformed = (reason: string) => new SimError("malformed_token", `API key is not valid: ${reason}`);
  const project = find(desk, token, malformed);
  if (project || desk.dialect === "production") return project;
  throw new SimError("invalid_api_key", unknownKey);
}

/** The same for capture v1, which has its own errors. @throws SimError invalid_api_token */
export function v1Project(desk: Desk, token: string): StoredProject | undefined {
  const invalid = (hint: string) => new SimError("invalid_api_token", "The provided API token is not valid.", { hint });
  const project = find(desk, token, invalid);
  if (project || desk.dialect === "production") return project;
  throw invalid("no project has this key");
}

/** The project of the header, or of the key behind `Bearer`; the call's record has it then. @throws SimError */
export function bearerProject(desk: Desk, packet: Packet): number | null {
  const { authorization = "" } = packet.headers;
  const named = projectByHeader(desk, packet);
  if (!named && !authorization.startsWith("Bearer "))
    throw new SimError("missing_token", "event submitted without an api_key", {
      hint: "send `Authorization: Bearer PROJECT_KEY`",
    });
  const project = named ?? legacyProject(desk, authorization.slice("Bearer ".length));
  packet.record.project = project?.id ?? null;
  return packet.record.project;
}
