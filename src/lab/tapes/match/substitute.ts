import { isObject, type Json } from "../../../kernel/base/json.ts";
import { isUuid } from "../../../kernel/base/text.ts";
import type { TapeBody } from "../format/exchange.ts";
import { type Bases, rebasedField, rebasedJson } from "../upstream/rewriting.ts";
import { maxDepth, nounOf, numberToken, type Rules, tokenOf } from "./canonical.ts";
import type { Aliases } from "./catalog.ts";

function mapped(value: Json, name: string, ofLeaf: (leaf: string | number, name: string) => Json, depth = 0): Json {
  if (depth > maxDepth) return value;
  if (typeof value === "string" || typeof value === "number") return ofLeaf(value, name);
  if (Array.isArray(value)) return value.map((it) => mapped(it, name, ofLeaf, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, mapped(it, key, ofLeaf, depth + 1)]));
}

/** A recorded answer's body with recorded ids replaced by live ones. What is in a side file stays there. */
export function liveBody(
  body: TapeBody | undefined,
  aliases: Aliases,
  rules: Rules,
  bases: Bases,
): TapeBody | undefined {
  if (body === undefined || !("json" in body || "text" in body)) return body;
  const live = (token: string): string | undefined => aliases.liveOf(token)?.slice(2);
  const ofText = (text: string): string => text.replace(rules.ids, (found) => live(tokenOf(found)) ?? found);
  const ofLeaf = (leaf: string | number, name: string): Json => {
    if (typeof leaf === "number") return ofNumber(leaf, numberToken(name, leaf, rules), aliases);
    const secret = rules.secrecy.hides(name, name) ? live(`s:${leaf}`) : undefined;
    const text = secret ?? ofText(leaf);
    return rebasedField(name, text, bases);
  };
  // JSON with numbers that only its text keeps is text on a tape.
  if ("text" in body) return { text: rebasedJson(ofText(body.text), bases) };
  return { json: mapped(body.json, "", ofLeaf) };
}

function ofNumber(leaf: number, token: string | undefined, aliases: Aliases): number {
  const live = token === undefined ? undefined : aliases.liveOf(token);
  return live === undefined ? leaf : Number(live.slice(live.lastIndexOf(":") + 1));
}

const ownIds: ReadonlySet<string> = new Set(["id", "uuid"]);

export function idsIn(body: TapeBody | undefined, rules: Rules): string[] {
  const ids: string[] = [];
  if (body === undefined || !("json" in body)) return ids;
  mapped(body.json, "", (leaf, name) => {
    if (!ownIds.has(name)) return leaf;
    const token = typeof leaf === "number" ? numberToken(name, leaf, rules) : tokenOf(leaf);
    if (token !== undefined) ids.push(token);
    return leaf;
  });
  return ids;
}

/** What a field `id` in the answer to a path is the id of: `/api/projects/1/dashboards` → `dashboard`. */
export function idNounOf(path: string): string {
  const names = path.split("/").filter((segment) => segment !== "" && !/^\d+$/.test(segment) && !isUuid(segment));
  return nounOf(names.at(-1) ?? "");
}
