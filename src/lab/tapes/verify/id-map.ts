import { isObject, type Json, type JsonObject, own as ownKey } from "../../../kernel/base/json.ts";

const mostIds = 100_000;

/** `to_dashboard`, `dashboard_id` and `dashboards` refer to the same numbers. */
function kindOf(key: string): string {
  const noun = key.replace(/^(?:to|from)_/, "").replace(/_?ids?$/, "");
  return noun.endsWith("s") ? noun : `${noun}s`;
}

const isCollection = (segment: string): boolean => /^[a-z_]+$/.test(segment);

/** The kind of a path's last id, or of the one that its POST creates. */
const kindOfPath = (path: string): string => path.split("/").filter(isCollection).at(-1) ?? "";

/** A number is an id of one kind only; a text such as a UUID is unique. */
const keyOf = (kind: string, id: string | number): string => (typeof id === "number" ? `${kind} ${id}` : `"${id}`);

const idKeys: ReadonlySet<string> = new Set(["id", "uuid", "short_id", "access_token"]);

const isId = (value: Json | undefined): value is string | number =>
  typeof value === "string" || typeof value === "number";

export function createIdMap() {
  const known = new Map<string, string | number>();

  function pair(kind: string, recorded: Json | undefined, own: Json | undefined): void {
    if (!isId(recorded) || !isId(own) || recorded === own || known.size >= mostIds) return;
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
    /** Pairs the ids in two answers to the same change; `path` is that of the request. */
    learn: (path: string, recorded: Json, own: Json) => learn(kindOfPath(path), recorded, own),
    inPath(path: string) {
      const segments = path.split("/");
      const at = (segment: string, i: number): string | number | undefined =>
        /^\d{1,15}$/.test(segment)
          ? known.get(keyOf(segments[i - 1] ?? "", Number(segment)))
          : known.get(keyOf("", segment));
      return segments.map((segment, i) => String(at(segment, i) ?? segment)).join("/");
    },
    inBody: (body: Json) => (known.size === 0 ? body : replaced("", body)),
  };
}
