import { isObject, type Json, type JsonObject, own } from "../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../src/state/journal/stored-event.ts";
import { jestTest, playwrightTest, pytestTest, vitestTest } from "./assert.ts";
import { prettyJson, yamlText } from "./quote.ts";
import { curl, fetchCall, posthogJs, posthogNode, posthogPython } from "./send.ts";
import { assertedId, type CopyContext, meantProperties } from "./subject.ts";

export type { CopyContext };

export interface CopyRow {
  readonly id: string;
  readonly group: "send" | "capture" | "test" | "keep";
  readonly label: string;
  readonly language: string;
  readonly text: (event: StoredEvent, context: CopyContext) => string;
}

export const copyGroups: Readonly<Record<CopyRow["group"], string>> = {
  send: "Send it again",
  capture: "Capture it with an SDK",
  test: "Assert it in a test",
  keep: "Keep it",
};

const deepLink = ({ seq }: Pick<StoredEvent, "seq">, { url }: Pick<CopyContext, "url">): string =>
  `${url}/__sim/#/events/${seq}`;

/** Every way to copy an event, in display order. */
export const copyRows: readonly CopyRow[] = [
  { id: "curl", group: "send", label: "curl", language: "sh", text: curl },
  { id: "fetch", group: "send", label: "fetch", language: "js", text: fetchCall },
  { id: "posthog-js", group: "capture", label: "posthog-js", language: "ts", text: posthogJs },
  { id: "posthog-node", group: "capture", label: "posthog-node", language: "ts", text: posthogNode },
  { id: "posthog-python", group: "capture", label: "Python", language: "python", text: posthogPython },
  { id: "vitest", group: "test", label: "vitest", language: "ts", text: vitestTest },
  { id: "jest", group: "test", label: "jest", language: "ts", text: jestTest },
  { id: "playwright", group: "test", label: "Playwright", language: "ts", text: playwrightTest },
  { id: "pytest", group: "test", label: "pytest", language: "python", text: pytestTest },
  { id: "scenario", group: "keep", label: "Scenario snippet", language: "yaml", text: scenarioSnippet },
  {
    id: "json",
    group: "keep",
    label: "JSON",
    language: "json",
    text: (event) => prettyJson(new Map(Object.entries(event))),
  },
  { id: "link", group: "keep", label: "Link", language: "text", text: deepLink },
];

/** YAML allows keys of up to 1,024 characters in flow style. */
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

/** A flag with this value for all users. */
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

/** A scenario with the event's person, groups and flags. */
export function scenarioSnippet(event: StoredEvent): string {
  const lines = [...personLines(event), ...groupLines(event), ...flagLines(event)];
  const head = `# A scenario, or a part of a project in one: the world around this event.${
    assertedId(event) === undefined ? " Each visitor gets a new distinct_id." : ""
  }`;
  return [head, ...(lines.length === 0 ? ["persons: []"] : lines)].join("\n");
}
