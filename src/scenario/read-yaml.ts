import type { Alias, Node, Pair, Scalar, YAMLMap } from "yaml";
import type { Path } from "../base/json-pointer.ts";
import { type Growth, grow, type Read } from "./growth.ts";
import type { Entry, Source, Tree } from "./tree.ts";

type Yaml = typeof import("yaml");

/** Tags that name what a value is anyway. */
const knownTags = new Set(["str", "int", "float", "bool", "null", "map", "seq"].map(tagOf));

function tagOf(name: string): string {
  return `tag:yaml.org,2002:${name}`;
}

/**
 * Reads YAML 1.2 with anchors, aliases and merge keys (`<<`). Dates stay texts, and so do `yes` and `no`.
 * Aliases are followed by us: each time its values count towards the limit.
 */
export const readYaml = (source: Source): Promise<Read> =>
  grow(source, async (growth) => {
    const yaml = await import("yaml");
    const document = yaml.parseDocument(source.text, {
      schema: "core",
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    const [error] = document.errors;
    if (error) {
      // The parser reports the end of the stack as any other mistake.
      if (error.message.startsWith("Maximum call stack")) throw new RangeError(error.message);
      const isSecond = error.code === "MULTIPLE_DOCS";
      const text = isSecond
        ? "expected one scenario in a file"
        : `this is not YAML: ${error.message}${error.code === "TAB_AS_INDENT" ? "; indent with spaces" : ""}`;
      growth.complain(error.pos[0], [], text);
      return undefined;
    }
    const walk: Walk = { yaml, growth, anchors: new Map(), open: new Set() };
    return build(walk, document.contents, [], 0);
  });

interface Walk {
  readonly yaml: Yaml;
  readonly growth: Growth;
  /** What each anchor stands for at the moment; a later one of the same name takes its place. */
  readonly anchors: Map<string, Node>;
  /** The anchored values that are being read. */
  readonly open: Set<Node>;
}

const offsetOf = (node: Pick<Node, "range">, otherwise: number): number => node.range?.[0] ?? otherwise;

/** `from` is where the value would stand if the text had one. */
function build(walk: Walk, node: unknown, at: Path, from: number): Tree {
  const { yaml, growth } = walk;
  if (!yaml.isNode(node)) return growth.plain(from, null, at);
  const offset = offsetOf(node, from);
  growth.enter(offset, at);
  if (yaml.isAlias(node)) return follow(walk, node, at, offset);
  if (node.tag !== undefined && !knownTags.has(node.tag)) {
    growth.complain(offset, at, `expected a value without the tag ${node.tag}`);
  }
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  walk.open.add(node);
  const tree = buildPlain(walk, node, at, offset);
  walk.open.delete(node);
  return tree;
}

function buildPlain(walk: Walk, node: Node, at: Path, offset: number): Tree {
  const { yaml, growth } = walk;
  const place = { source: growth.source, offset };
  if (yaml.isSeq(node)) {
    return { kind: "list", place, items: node.items.map((it, i) => build(walk, it, [...at, i], offset)) };
  }
  if (yaml.isMap(node)) return { kind: "object", place, entries: entriesOf(walk, node, at) };
  return growth.plain(offset, yaml.isScalar(node) ? node.value : null, at);
}

function follow(walk: Walk, alias: Alias, at: Path, offset: number): Tree {
  const { growth, anchors, open } = walk;
  const target = anchors.get(alias.source);
  if (target && !open.has(target)) return build(walk, target, at, offset);
  const text = target ? "a value inside itself" : "an anchor that nothing before it has";
  growth.complain(offset, at, `*${alias.source} is ${text}`);
  return growth.plain(offset, null, at);
}

function entriesOf(walk: Walk, map: YAMLMap, at: Path): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const merged: Tree[] = [];
  for (const pair of map.items) {
    if (isMergeKey(walk, pair)) merged.push(build(walk, pair.value, [...at, "<<"], offsetOf(map, 0)));
    else addEntry(walk, entries, pair, at);
  }
  for (const tree of merged) layUnder(walk, entries, tree, at);
  return entries;
}

/** Only where it is not in quotes. */
function isMergeKey({ yaml }: Walk, { key }: Pair): boolean {
  return yaml.isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

function addEntry(walk: Walk, entries: Map<string, Entry>, { key, value }: Pair, at: Path): void {
  const { growth } = walk;
  const name = keyOf(walk, key);
  const offset = walk.yaml.isNode(key) ? offsetOf(key, 0) : 0;
  if (name === undefined) {
    growth.complain(offset, at, "expected a string as key");
    return;
  }
  const path = [...at, name];
  const entry = { key: { source: growth.source, offset }, tree: build(walk, value, path, offset) };
  growth.add(entries, name, entry, path);
}

/** `1` and `true` are keys as they are written. */
function keyOf({ yaml, anchors }: Walk, key: unknown): string | undefined {
  if (!yaml.isScalar(key)) return undefined;
  if (key.anchor !== undefined) anchors.set(key.anchor, key);
  const { value, source, type }: Scalar = key;
  if (typeof value === "string") return value;
  return type === "PLAIN" && source !== "" && source !== undefined ? source : undefined;
}

/** What the map has itself wins, then what is named first. */
function layUnder({ growth }: Walk, entries: Map<string, Entry>, tree: Tree, at: Path): void {
  for (const one of tree.kind === "list" ? tree.items : [tree]) {
    if (one.kind !== "object") {
      growth.complain(one.place.offset, [...at, "<<"], "expected an object, or a list of objects");
      continue;
    }
    for (const [key, entry] of one.entries) if (!entries.has(key)) entries.set(key, entry);
  }
}
