import { isObject, type Json, type JsonObject, own } from "../../src/kernel/json.ts";
import type { StoredEvent } from "../../src/model/stored-event.ts";
import { yamlText } from "./notations.ts";
import { assertedId, meantProperties } from "./subject.ts";

/** YAML takes a key in the flow style up to 1,024 characters. */
const longestKey = 1_000;

const isWritable = (key: string): boolean => key.length <= longestKey && key !== "__proto__";

const objectIn = (properties: JsonObject, key: string): JsonObject => {
  const value = own(properties, key);
  const entries = isObject(value) ? Object.entries(value).filter(([it]) => isWritable(it)) : [];
  return Object.fromEntries(entries);
};

function personLines(event: StoredEvent): string[] {
  const id = event.distinct_id;
  if (id === "" || event.person_mode !== "full") return [];
  const properties = meantProperties(event);
  const known = { ...objectIn(properties, "$set_once"), ...objectIn(properties, "$set") };
  const lines = ["persons:", `  - distinct_ids: [${yamlText(id)}]`];
  return Object.keys(known).length === 0 ? lines : [...lines, `    properties: ${yamlText(known, 4)}`];
}

function groupLines(event: StoredEvent): string[] {
  const rows = Object.entries(objectIn(event.properties, "$groups")).flatMap(([type, key]) =>
    type === "" || (typeof key !== "string" && typeof key !== "number") || key === ""
      ? []
      : [`  - { type: ${yamlText(type)}, key: ${yamlText(String(key))} }`],
  );
  return rows.length === 0 ? [] : ["groups:", ...rows];
}

/** A flag that gives everybody this value. */
function flagText(value: Json): string | undefined {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? `{ variants: { ${yamlText(value)}: 100 } }` : undefined;
}

function flagsOf({ properties }: StoredEvent): [string, Json][] {
  const active = Object.entries(properties).flatMap(([key, value]): [string, Json][] =>
    key.startsWith("$feature/") ? [[key.slice("$feature/".length), value]] : [],
  );
  const called = own(properties, "$feature_flag");
  const response = own(properties, "$feature_flag_response");
  return typeof called === "string" && response !== undefined ? [...active, [called, response]] : active;
}

function flagLines(event: StoredEvent): string[] {
  const flags = new Map(flagsOf(event).filter(([key]) => key !== "" && isWritable(key)));
  const rows = [...flags].flatMap(([key, value]) => {
    const text = flagText(value);
    return text === undefined ? [] : [`  ${yamlText(key)}: ${text}`];
  });
  return rows.length === 0 ? [] : ["flags:", ...rows];
}

/** What a scenario's project must have for this event to find its person, its groups and its flags as they are. */
export function scenarioSnippet(event: StoredEvent): string {
  const lines = [...personLines(event), ...groupLines(event), ...flagLines(event)];
  const head = `# A scenario, or a part of a project in one: the world around this event.${
    assertedId(event) === undefined ? " Its distinct_id is made anew for each visitor." : ""
  }`;
  return [head, ...(lines.length === 0 ? ["persons: []"] : lines)].join("\n");
}
