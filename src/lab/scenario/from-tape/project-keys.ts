import { isObject, type Json, own } from "../../../kernel/base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { pathOf } from "../../tapes/format/routes.ts";
import { decodedPlaceholders, placeholdersIn } from "../../tapes/redact/placeholders.ts";

export const jsonOf = (side: Exchange["req"] | Exchange["res"]): Json | undefined =>
  side?.body !== undefined && "json" in side.body ? side.body.json : undefined;

/** A key as the tape has it: a placeholder, or the key itself. */
interface SeenKey {
  readonly text: string;
  readonly role: "project" | "personal";
  /** Number of its project, if an answer has it. */
  project: string | undefined;
  /** True if it was accepted at least once. */
  accepted: boolean;
}

const maxKeys = 1000;
const keyNames = ["api_key", "token", "$token"];
const publicRoutes = new Set(["capture", "recordings", "flags", "remote-config"]);

/** The key in a text that is a key, perhaps after a scheme. */
function keyIn(text: string): string | undefined {
  const [placeholder] = placeholdersIn(text);
  if (placeholder !== undefined) return placeholder.text;
  return text.replace(/^bearer\s+/i, "").trim() || undefined;
}

const textsAt = (value: Json | undefined): string[] => {
  if (!isObject(value)) return [];
  const named = keyNames.map((name) => own(value, name));
  const properties = own(value, "properties");
  if (isObject(properties)) named.push(own(properties, "token"));
  return named.filter((it) => typeof it === "string" && it !== "").map(String);
};

function inBody(body: Json | undefined): string[] {
  const top = textsAt(body);
  if (top.length > 0) return top;
  const items = Array.isArray(body) ? body : isObject(body) ? own(body, "batch") : undefined;
  return Array.isArray(items) ? textsAt(items[0]) : [];
}

function inQuery(url: string): string[] {
  const query = new URLSearchParams(/\?(.*)$/.exec(url)?.[1] ?? "");
  return keyNames.flatMap((name) => query.get(name) || []);
}

/** `/array/KEY/config` has the key in its path. */
function inPath(url: string): string[] {
  const key = /\/array\/([^/?]+)/.exec(decodedPlaceholders(url))?.[1];
  return key === undefined ? [] : [key];
}

function authorization({ req }: Exchange): string | undefined {
  const value = req.headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
  return value === undefined ? undefined : keyIn(value);
}

/** The project number in a reply with flag definitions. */
function projectIn(body: Json | undefined): string | undefined {
  const flags = isObject(body) ? own(body, "flags") : undefined;
  const first = Array.isArray(flags) ? flags[0] : undefined;
  const id = isObject(first) ? own(first, "team_id") : undefined;
  return typeof id === "number" ? String(id) : undefined;
}

export function projectKeyOf(exchange: Exchange): string | undefined {
  const { req, route } = exchange;
  const found = [...inQuery(req.url), ...inBody(jsonOf(req)), ...inPath(req.url)][0];
  if (found !== undefined) return keyIn(found);
  const isV1 = route === "capture" && pathOf(req.url).startsWith("/i/");
  return isV1 ? authorization(exchange) : undefined;
}

export function createKeyRing() {
  const seen = new Map<string, SeenKey>();

  function note(text: string | undefined, role: SeenKey["role"], accepted: boolean, project?: string): void {
    if (text === undefined || (!seen.has(text) && seen.size >= maxKeys)) return;
    const known = seen.get(text) ?? { text, role, project, accepted: false };
    known.accepted ||= accepted;
    known.project ??= project;
    seen.set(text, known);
  }

  return {
    see(exchange: Exchange): void {
      const { res, route } = exchange;
      const accepted = res !== null && res.status !== 401 && res.status !== 403;
      const isPublic = publicRoutes.has(route) || route === "local-evaluation";
      if (isPublic) {
        const project = route === "local-evaluation" ? projectIn(jsonOf(res)) : undefined;
        note(projectKeyOf(exchange), "project", accepted, project);
      }
      if (!publicRoutes.has(route)) note(authorization(exchange), "personal", accepted);
    },
    /** In the order of their first use. */
    all: (role: SeenKey["role"]): SeenKey[] => [...seen.values()].filter((it) => it.role === role),
  };
}

export type KeyRing = ReturnType<typeof createKeyRing>;
