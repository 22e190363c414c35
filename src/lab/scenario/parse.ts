import type { Alias, Node, Pair, YAMLMap } from "yaml";
import { type JsonNode, parseCommentedJson } from "../../kernel/base/commented-json.ts";
import { type Path, pointerTo } from "../../kernel/base/json.ts";
import type { PlacedProblem } from "./problems.ts";
import { positionOf, type Source, type TextPlace, type Tree, type TreeEntry } from "./tree.ts";

/** A parsed text; without a tree, a problem is the reason. */
export interface ParsedText {
  readonly tree?: Tree;
  readonly problems: readonly PlacedProblem[];
}

const maxDepth = 100;
/** Aliases let a short text expand to a very long one. */
const maxValues = 1_000_000;

const tooDeep = `expected at most ${maxDepth} levels of lists and objects`;

/** Ends the parsing of a text that is too large; the problem is already noted. */
class TooLarge extends Error {}

/** Makes a tree and collects problems: the part that both formats have in common. */
class TreeBuilder {
  readonly problems: PlacedProblem[] = [];
  readonly #source: Source;
  #values = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  placeAt(offset: number): TextPlace {
    return { source: this.#source, offset };
  }

  text(offset: number, length: number): string {
    return this.#source.text.slice(offset, offset + length);
  }

  complain(offset: number, at: Path, text: string): void {
    this.problems.push({ place: this.placeAt(offset), pointer: pointerTo(at), text });
  }

  /** Counts a value. @throws TooLarge */
  enter(offset: number, at: Path): void {
    this.#values += 1;
    const isDeep = at.length > maxDepth;
    if (!isDeep && this.#values <= maxValues) return;
    this.complain(offset, isDeep ? [] : at, isDeep ? tooDeep : `expected at most ${maxValues} values`);
    throw new TooLarge();
  }

  /** A whole number that a double does not hold exactly is kept as text; one that JSON cannot hold is a problem. */
  plain(offset: number, value: unknown, at: Path): Tree {
    const place = this.placeAt(offset);
    const number = typeof value === "bigint" ? Number(value) : value;
    if (typeof number === "number" && !Number.isFinite(number)) {
      this.complain(offset, at, "expected a number that JSON can hold");
      return { kind: "plain", place, value: 0 };
    }
    if (typeof value === "bigint") {
      const isExact = typeof number === "number" && BigInt(number) === value;
      return { kind: "plain", place, value: isExact ? number : String(value) };
    }
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return { kind: "plain", place, value: isPlain ? value : null };
  }

  /** Adds an entry whose key is at `offset`; a repeated key is a problem. */
  add(entries: Map<string, TreeEntry>, key: string, offset: number, tree: Tree, at: Path): void {
    const first = entries.get(key);
    if (!first) {
      entries.set(key, { key: this.placeAt(offset), tree });
      return;
    }
    const { line } = positionOf(first.key);
    const where = line === null ? "" : `, as in line ${line}`;
    this.complain(offset, at, `the key ${JSON.stringify(key)} is there twice${where}`);
  }
}

async function parsed(source: Source, parse: (builder: TreeBuilder) => Promise<Tree | undefined>): Promise<ParsedText> {
  const builder = new TreeBuilder(source);
  const { problems } = builder;
  try {
    const tree = await parse(builder);
    return tree ? { tree, problems } : { problems };
  } catch (error) {
    // the parsers themselves run out of stack
    if (error instanceof RangeError) builder.complain(0, [], tooDeep);
    else if (!(error instanceof TooLarge)) throw error;
    return { problems };
  }
}

/** Parses JSON with comments and trailing commas. */
export const parseJson = (source: Source): Promise<ParsedText> =>
  parsed(source, async (builder) => {
    const { root, mistake } = await parseCommentedJson(source.text);
    if (root) return jsonTree(builder, root, []);
    builder.complain(mistake.offset, [], mistake.text);
    return undefined;
  });

function jsonTree(builder: TreeBuilder, node: JsonNode, at: Path): Tree {
  const { offset, children = [] } = node;
  builder.enter(offset, at);
  const place = builder.placeAt(offset);
  if (node.type === "array") {
    return { kind: "list", place, items: children.map((it, i) => jsonTree(builder, it, [...at, i])) };
  }
  if (node.type === "number") {
    const text = builder.text(offset, node.length);
    return builder.plain(offset, /^-?\d+$/.test(text) ? BigInt(text) : node.value, at);
  }
  if (node.type !== "object") return builder.plain(offset, node.value, at);
  const entries = new Map<string, TreeEntry>();
  for (const { children: [key, value] = [] } of children) {
    if (!key || !value) continue;
    const path = [...at, String(key.value)];
    builder.add(entries, String(key.value), key.offset, jsonTree(builder, value, path), path);
  }
  return { kind: "object", place, entries };
}

/** Tags of the types that values have anyway. */
const knownTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Parses YAML 1.2 with anchors, aliases and merge keys (`<<`). Dates stay strings, and so do `yes` and `no`.
 * Aliases are resolved here, so that their values count towards the limit each time.
 */
export const parseYaml = (source: Source): Promise<ParsedText> =>
  parsed(source, async (builder) => {
    const yaml = await import("yaml");
    const document = yaml.parseDocument(source.text, {
      schema: "core",
      merge: true,
      intAsBigInt: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    const [error] = document.errors;
    if (!error) return new YamlWalk(yaml, builder).tree(document.contents, [], 0);
    // the parser reports the end of the stack as any other mistake
    if (error.message.startsWith("Maximum call stack")) throw new RangeError(error.message);
    const indent = error.code === "TAB_AS_INDENT" ? "; indent with spaces" : "";
    const text =
      error.code === "MULTIPLE_DOCS"
        ? "expected one scenario in a file"
        : `this is not YAML: ${error.message}${indent}`;
    builder.complain(error.pos[0], [], text);
    return undefined;
  });

const offsetOf = (node: Pick<Node, "range">, otherwise: number): number => node.range?.[0] ?? otherwise;

class YamlWalk {
  readonly #yaml: typeof import("yaml");
  readonly #builder: TreeBuilder;
  /** The current value of each anchor; a later anchor of the same name replaces it. */
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();

  constructor(yaml: typeof import("yaml"), builder: TreeBuilder) {
    this.#yaml = yaml;
    this.#builder = builder;
  }

  /** @param from The place of a value that the text leaves out */
  tree(node: unknown, at: Path, from: number): Tree {
    if (!this.#yaml.isNode(node)) return this.#builder.plain(from, null, at);
    const offset = offsetOf(node, from);
    this.#builder.enter(offset, at);
    if (this.#yaml.isAlias(node)) return this.#resolved(node, at, offset);
    if (node.tag !== undefined && !knownTags.has(node.tag)) {
      this.#builder.complain(offset, at, `expected a value without the tag ${node.tag}`);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const tree = this.#value(node, at, offset);
    this.#open.delete(node);
    return tree;
  }

  #value(node: Node, at: Path, offset: number): Tree {
    const place = this.#builder.placeAt(offset);
    if (this.#yaml.isSeq(node)) {
      return { kind: "list", place, items: node.items.map((it, i) => this.tree(it, [...at, i], offset)) };
    }
    if (this.#yaml.isMap(node)) return { kind: "object", place, entries: this.#entries(node, at) };
    return this.#builder.plain(offset, this.#yaml.isScalar(node) ? node.value : null, at);
  }

  #resolved(alias: Alias, at: Path, offset: number): Tree {
    const target = this.#anchors.get(alias.source);
    if (target && !this.#open.has(target)) return this.tree(target, at, offset);
    const text = target ? "a value inside itself" : "an anchor that nothing before it has";
    this.#builder.complain(offset, at, `*${alias.source} is ${text}`);
    return this.#builder.plain(offset, null, at);
  }

  #entries(map: YAMLMap, at: Path): Map<string, TreeEntry> {
    const entries = new Map<string, TreeEntry>();
    const merged: Tree[] = [];
    for (const pair of map.items) {
      if (this.#isMergeKey(pair)) merged.push(this.tree(pair.value, [...at, "<<"], offsetOf(map, 0)));
      else this.#addEntry(entries, pair, at);
    }
    // the map's own keys win, then the first merged ones
    for (const tree of merged.flatMap((it) => (it.kind === "list" ? it.items : [it]))) {
      if (tree.kind === "object") {
        for (const [key, entry] of tree.entries) if (!entries.has(key)) entries.set(key, entry);
      } else {
        const text = "expected an object, or a list of objects";
        this.#builder.complain(tree.place.offset, [...at, "<<"], text);
      }
    }
    return entries;
  }

  /** In quotes, `<<` is a key like any other. */
  #isMergeKey({ key }: Pair): boolean {
    return this.#yaml.isScalar(key) && key.type === "PLAIN" && key.source === "<<";
  }

  #addEntry(entries: Map<string, TreeEntry>, { key, value }: Pair, at: Path): void {
    const name = this.#keyName(key);
    const offset = this.#yaml.isNode(key) ? offsetOf(key, 0) : 0;
    if (name === undefined) {
      this.#builder.complain(offset, at, "expected a string as key");
      return;
    }
    const path = [...at, name];
    this.#builder.add(entries, name, offset, this.tree(value, path, offset), path);
  }

  /** `1` and `true` are keys as written. */
  #keyName(key: unknown): string | undefined {
    if (!this.#yaml.isScalar(key)) return undefined;
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, key);
    const { value, source, type } = key;
    if (typeof value === "string") return value;
    return type === "PLAIN" && source !== "" ? source : undefined;
  }
}
