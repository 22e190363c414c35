import { isObject, type Json, type JsonObject, own as ownKey } from "../../kernel/json.ts";

/** Ids that the emulator gave where the service gave others, so that later requests mean the same things. */
export interface Aliases {
  /** Pairs the ids of two answers to one change; `path` tells what was changed. */
  learn(path: string, recorded: Json, own: Json): void;
  inPath(path: string): string;
  inBody(body: Json): Json;
}

const mostAliases = 100_000;

/** `to_dashboard`, `dashboard_id` and `dashboards` are about the same numbers. */
function kindOf(key: string): string {
  const noun = key.replace(/^(?:to|from)_/, "").replace(/_?ids?$/, "");
  return noun.endsWith("s") ? noun : `${noun}s`;
}

const isCollection = (segment: string): boolean => /^[a-z_]+$/.test(segment);

/** What a path's last id, or the one that its POST makes, is an id of. */
const kindOfPath = (path: string): string => path.split("/").filter(isCollection).at(-1) ?? "";

/** Numbers are ids of one kind of thing only; texts such as UUIDs are there once. */
const keyOf = (kind: string, id: string | number): string =>
  typeof id === "number" ? `${kind} ${id}` : `"${id}`;

const idKeys: ReadonlySet<string> = new Set(["id", "uuid", "short_id", "access_token"]);

const isId = (value: Json | undefined): value is string | number =>
  typeof value === "string" || typeof value === "number";

/** Aliases of one run; it starts with none. */
export function createAliases(): Aliases {
  const known = new Map<string, string | number>();

  function pair(kind: string, recorded: Json | undefined, own: Json | undefined): void {
    if (!isId(recorded) || !isId(own) || recorded === own || known.size >= mostAliases) return;
    if (recorded !== "") known.set(keyOf(kind, recorded), own);
  }

  function learn(kind: string, recorded: Json, own: Json): void {
    if (Array.isArray(recorded) && Array.isArray(own)) {
      for (const [i, it] of recorded.entries()) learn(kind, it, own[i] ?? null);
    } else if (isObject(recorded) && isObject(own)) learnKeys(kind, recorded, own);
  }

  function learnKeys(kind: string, recorded: JsonObject, own: JsonObject): void {
    for (const [key, value] of Object.entries(recorded)) {
      const mine = ownKey(own, key);
      if (idKeys.has(key)) pair(kind, value, mine);
      else if (mine !== undefined) learn(kindOf(key), value, mine);
    }
  }

  function replaced(kind: string, value: Json): Json {
    if (isId(value)) return known.get(keyOf(kind, value)) ?? value;
    if (Array.isArray(value)) return value.map((it) => replaced(kind, it));
    return isObject(value) ? replacedKeys(kind, value) : value;
  }

  const replacedKeys = (kind: string, value: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, replaced(key === "id" ? kind : kindOf(key), it)]),
    );

  return {
    learn: (path, recorded, own) => learn(kindOfPath(path), recorded, own),
    inPath(path) {
      const segments = path.split("/");
      const at = (segment: string, i: number): string | number | undefined =>
        /^\d{1,15}$/.test(segment)
          ? known.get(keyOf(segments[i - 1] ?? "", Number(segment)))
          : known.get(keyOf("", segment));
      return segments.map((segment, i) => String(at(segment, i) ?? segment)).join("/");
    },
    inBody: (body) => (known.size === 0 ? body : replaced("", body)),
  };
}
