import { isObject, type Json, type JsonObject, objectsIn, own, type Path, pathText } from "../../kernel/base/json.ts";
import { differences } from "../../kernel/base/json-differences.ts";
import { liveKinds } from "./kinds.ts";

export interface LiveChange {
  readonly what: "added" | "removed" | "changed";
  /** `flag`, `cohort`, …, or `project` for its settings. */
  readonly kind: string;
  /** Its key, id or name. */
  readonly id: string;
  /** Place within the document; empty unless it is changed. */
  readonly path: string;
  /** In the file; null: nothing. */
  readonly before: Json;
  /** In the live project; null: nothing. */
  readonly after: Json;
}

/** What stands for redacted values. Their numbers follow from the order in which the values were found. */
const standIn =
  /\buser\d+@example\.test\b|\{\{secret:\w+#\d+\}\}|\b(?:Person|Place|Personal) \d+\b|\+1555\d{7}\b|\b198\.1[89]\.\d+\.\d+\b/g;

/** Equal leaves, where stand-ins with other numbers may be each other's; always the same ones. */
function sameRedacted(): (recorded: Json, live: Json) => boolean {
  const there = new Map<string, string>();
  const back = new Map<string, string>();
  return (recorded, live) => {
    if (typeof recorded !== "string" || typeof live !== "string") return recorded === live;
    const [a, b] = [recorded.match(standIn) ?? [], live.match(standIn) ?? []];
    if (recorded.replace(standIn, "\0") !== live.replace(standIn, "\0")) return false;
    const pairs = a.map((it, i): [string, string] => [it, b[i] ?? ""]);
    const fits = pairs.every(([x, y]) => (there.get(x) ?? y) === y && (back.get(y) ?? x) === x);
    if (fits)
      for (const [x, y] of pairs) {
        there.set(x, y);
        back.set(y, x);
      }
    return fits;
  };
}

function documentsIn(project: JsonObject, list: string): Map<string, Json> {
  const held = own(project, list);
  if (isObject(held)) return new Map(Object.entries(held));
  return new Map(
    objectsIn(held).map((it) => {
      const owner = [it.type, it.group_type_index].filter((part) => part !== undefined && part !== null);
      const name = list === "property_definitions" ? [...owner, it.name].join(" ") : (it.id ?? it.name);
      return [String(name), it];
    }),
  );
}

const settings = ["name", "timezone", "settings", "group_types", "remote_config"];

/** What changed since a file was written. @param lists Those that the live project has */
export function compareWithLive(file: JsonObject, live: JsonObject, lists: ReadonlySet<string>): LiveChange[] {
  const same = sameRedacted();
  const changed = (kind: string, id: string, before?: Json, after?: Json, root: Path = []): LiveChange[] =>
    [...differences(before, after, { same }, root)].map(({ path, one, other }) => ({
      ...{ what: "changed", kind, id, path: pathText(path), before: one ?? null, after: other ?? null },
    }));
  const ofProject = settings.flatMap((name) =>
    changed("project", String(live.id ?? ""), own(file, name), own(live, name), [name]),
  );
  const ofDocuments = liveKinds
    .filter(({ list }) => lists.has(list))
    .flatMap(({ list, noun }) => {
      const [before, after] = [documentsIn(file, list), documentsIn(live, list)];
      return [...new Set([...before.keys(), ...after.keys()])].flatMap((id): LiveChange[] => {
        const [old, fresh] = [before.get(id), after.get(id)];
        const whole = { kind: noun, id, path: "", before: null, after: null };
        if (old === undefined) return [{ what: "added", ...whole }];
        if (fresh === undefined) return [{ what: "removed", ...whole }];
        return changed(noun, id, old, fresh);
      });
    });
  return [...ofProject, ...ofDocuments];
}
