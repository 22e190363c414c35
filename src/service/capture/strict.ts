import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import type { Opened } from "../../state/journal/items.ts";

const unparsable = (what: string): SimError =>
  new SimError(
    "unparsable_payload",
    `failed to parse request: data did not match any variant of untagged enum RawRequest: ${what}`,
  );

/** Names of one field: serde refuses an object that has two of them. Upstream common/types event.rs. */
const aliases: readonly (readonly string[])[] = [
  ["token", "$token", "api_key"],
  ["distinct_id", "$distinct_id"],
];

function checkAliases(item: Json, index: number): void {
  if (!isObject(item)) return;
  for (const names of aliases) {
    const [first, second] = names.filter((name) => Object.hasOwn(item, name));
    if (second !== undefined) throw unparsable(`item ${index}: ${first} and ${second} are the same field`);
  }
}

function checkEnvelope({ historical_migration, sent_at, token, api_key }: JsonObject): void {
  if (historical_migration !== undefined && typeof historical_migration !== "boolean")
    throw unparsable("historical_migration is not a boolean");
  if (sent_at !== undefined && sent_at !== null && typeof sent_at !== "string")
    throw unparsable("sent_at is not a string");
  if (token !== undefined && api_key !== undefined) throw unparsable("token and api_key are the same field");
}

/** Fields of an event that serde refuses twice. */
const fields: ReadonlySet<string> = new Set([
  ..."event properties timestamp offset uuid $set $set_once".split(" "),
  ...aliases.flat(),
]);

const tokens = /"((?:[^"\\]|\\.)*)"(\s*:)?|[[\]{}]/g;

/** The first field that stands twice in one event of the text. */
function repeatedField(text: string): string | undefined {
  /** The open containers: the names of an object so far, or `[`. */
  const open: (Set<string> | "[")[] = [];
  const isEvent = (): boolean => open.length === 1 || (open.length <= 3 && open.at(-2) === "[");
  for (const [token, name = "", colon] of text.matchAll(tokens)) {
    const top = open.at(-1);
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push("[");
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined && top instanceof Set && fields.has(name) && isEvent()) {
      if (top.has(name)) return name;
      top.add(name);
    }
  }
  return undefined;
}

const isOutOfRange = (value: Json): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(isOutOfRange)
    : typeof value === "number" && !Number.isFinite(value);

/**
 * What the parser of the service refuses and JSON.parse takes (dialect row strict_json).
 * @throws SimError unparsable_payload
 */
export function checkStrictly({ items, envelope }: Opened, text: string): void {
  const field = repeatedField(text);
  if (field !== undefined) throw unparsable(`duplicate field \`${field}\``);
  if (/[eE]\+?\d{3}/.test(text) && items.some(isOutOfRange)) throw unparsable("number out of range");
  if (envelope) checkEnvelope(envelope);
  for (const [index, item] of items.entries()) checkAliases(item, index);
}
