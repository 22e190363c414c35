import { type JsonNode, parseCommentedJson } from "../base/commented-json.ts";
import { type Growth, grow, type Read } from "./growth.ts";
import type { Entry, Source, Tree } from "./tree.ts";

/** Reads JSON with comments and trailing commas. */
export const readJson = (source: Source): Promise<Read> =>
  grow(source, async (growth) => {
    const { root, mistake } = await parseCommentedJson(source.text);
    if (root) return build(growth, root, []);
    growth.complain(mistake.offset, [], mistake.text);
    return undefined;
  });

function build(growth: Growth, node: JsonNode, at: readonly string[]): Tree {
  growth.enter(node.offset, at);
  const place = { source: growth.source, offset: node.offset };
  const children = node.children ?? [];
  if (node.type === "array") {
    return { kind: "list", place, items: children.map((it, i) => build(growth, it, [...at, String(i)])) };
  }
  if (node.type !== "object") return growth.plain(node.offset, node.value, at);
  const entries = new Map<string, Entry>();
  for (const { children: [key, value] = [] } of children) {
    if (key && value) add(growth, entries, key, value, at);
  }
  return { kind: "object", place, entries };
}

function add(
  growth: Growth,
  entries: Map<string, Entry>,
  key: JsonNode,
  value: JsonNode,
  at: readonly string[],
) {
  const path = [...at, String(key.value)];
  const entry = { key: { source: growth.source, offset: key.offset }, tree: build(growth, value, path) };
  growth.add(entries, String(key.value), entry, path);
}
