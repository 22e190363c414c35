import { isUtf8 } from "node:buffer";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Json } from "../../kernel/base/json.ts";
import { type Path, pointerTo } from "../../kernel/base/json.ts";
import { meantOf, nearest } from "../../kernel/base/nearest.ts";
import { readRegularFile } from "../../kernel/base/regular-file.ts";
import { type ParsedText, parseJson, parseYaml } from "./parse.ts";
import type { PlacedProblem } from "./problems.ts";
import type { ScenarioLayer } from "./schema.ts";
import { shippedScenarios } from "./shipped.ts";
import { completed, layOver, type Whole, withProjectKeysMoved } from "./short-form.ts";
import { type Source, type TextPlace, type Tree, treeOf } from "./tree.ts";

interface Layered {
  /** Missing if a layer cannot be read. */
  readonly whole?: Whole;
  readonly problems: readonly PlacedProblem[];
  /** Absolute paths of all files that were read, or that are missing, without repetition; the top ones first. */
  readonly files: readonly string[];
}

const maxDepth = 16;
const maxBytes = 64 * 1024 * 1024;

/** A layer's name or path, and where it is given. */
interface Reference {
  readonly name: string;
  /** Relative paths start here. */
  readonly folder: string;
  /** Undefined for a name given by the user; problems are then about the file itself. */
  readonly place?: TextPlace;
  readonly at: Path;
  /** The files that lead here, the top one first. */
  readonly chain: readonly string[];
}

export const nowhere: TextPlace = { source: { file: null, text: "" }, offset: 0 };

/** Reads layers and everything that they extend, and lays later ones over earlier ones. */
export async function readLayers(
  sources: readonly (string | ScenarioLayer)[],
  folder = process.cwd(),
): Promise<Layered> {
  const reader = new LayerReader();
  const { problems } = reader;
  const layers: (Tree | undefined)[] = [];
  for (const source of sources) {
    const isNamed = typeof source === "string";
    layers.push(
      await (isNamed
        ? reader.named({ name: source, folder, at: [], chain: [] })
        : // a copy: keys that are undefined are absent, and later changes by the caller have no effect
          reader.withBases(treeOf(JSON.parse(JSON.stringify(source)) as Json, nowhere), folder, [])),
    );
  }
  if (sources.length === 0) {
    problems.push({ place: nowhere, pointer: "", text: "expected at least one scenario" });
  }
  const tree = together(layers);
  const whole = tree && completed(tree, (problem) => problems.push(problem));
  return { ...(whole && { whole }), problems, files: [...reader.files.keys()] };
}

function together(layers: readonly (Tree | undefined)[]): Tree | undefined {
  const present = layers.filter((it) => it !== undefined);
  return present.length === layers.length && present.length > 0 ? present.reduce(layOver) : undefined;
}

/** Reads each file, and lays it over its bases, once, even if several layers extend it. */
class LayerReader {
  readonly files = new Map<string, Promise<Tree | undefined>>();
  readonly problems: PlacedProblem[] = [];
  readonly #shipped: ReadonlyMap<string, string> = shippedScenarios();

  async named(reference: Reference): Promise<Tree | undefined> {
    const { name, folder, chain } = reference;
    // a bare word is a shipped scenario's name if there is one, anything else is a path
    const file = (/^[\w-]+$/.test(name) ? this.#shipped.get(name) : undefined) ?? resolve(folder, name);
    if (chain.includes(file)) {
      const loop = [...chain.slice(chain.indexOf(file)), file].map((it) => basename(it)).join(" → ");
      return this.#complain(reference, file, `${loop}: a scenario cannot extend itself`);
    }
    if (chain.length >= maxDepth) {
      return this.#complain(reference, file, `expected at most ${maxDepth} scenarios above each other`);
    }
    const reading = this.files.get(file) ?? this.#read(reference, file);
    this.files.set(file, reading);
    return reading;
  }

  /** The tree laid over the scenarios in its `extends`, without that key; plans are read. */
  async withBases(written: Tree, folder: string, chain: readonly string[]): Promise<Tree | undefined> {
    const moved = withProjectKeysMoved(written, (problem) => this.problems.push(problem));
    const tree = await this.#withPlans(moved, [], folder, chain);
    const named = tree.kind === "object" ? tree.entries.get("extends")?.tree : undefined;
    if (tree.kind !== "object" || !named) return tree;
    const layers: (Tree | undefined)[] = [];
    const names = named.kind === "list" ? named.items : [named];
    for (const [i, { place, ...it }] of names.entries()) {
      const at = named.kind === "list" ? ["extends", i] : ["extends"];
      if (it.kind === "plain" && typeof it.value === "string") {
        layers.push(await this.named({ folder, at, chain, name: it.value, place }));
      } else {
        const text = "expected the name or the path of a scenario";
        this.problems.push({ place, pointer: pointerTo(at), text });
        layers.push(undefined);
      }
    }
    const entries = new Map([...tree.entries].filter(([key]) => key !== "extends"));
    return together([...layers, { ...tree, entries }]);
  }

  async #read(reference: Reference, file: string): Promise<Tree | undefined> {
    const source = readText(file);
    if ("reason" in source) {
      const name = reference.place ? `${JSON.stringify(reference.name)} ` : "";
      const hint = source.isWrongName ? this.#meant(reference.name, file) : undefined;
      return this.#complain(reference, file, `${name}${source.reason}`, hint);
    }
    // a file with another ending is JSON
    const { tree, problems } = await (parserOf(file) ?? parseJson)(source);
    this.problems.push(...problems);
    return tree && this.withBases(tree, dirname(file), [...reference.chain, file]);
  }

  async #withPlans(tree: Tree, at: Path, folder: string, chain: readonly string[]): Promise<Tree> {
    if (tree.kind === "list") {
      const items: Tree[] = [];
      for (const [i, it] of tree.items.entries()) {
        items.push(await this.#withPlans(it, [...at, i], folder, chain));
      }
      return { ...tree, items };
    }
    if (tree.kind === "plain") return tree;
    const entries = new Map(tree.entries);
    for (const [key, { key: place, tree: part }] of entries) {
      const here = [...at, key];
      if (key === "organizations" || key === "projects") {
        entries.set(key, { key: place, tree: await this.#withPlans(part, here, folder, chain) });
      } else if (key === "plan" && part.kind === "plain" && typeof part.value === "string") {
        const reference = { name: part.value, folder, place: part.place, at: here, chain };
        const plan = await this.#plan(reference, resolve(folder, part.value));
        if (plan) entries.set(key, { key: place, tree: plan });
        else entries.delete(key);
      }
    }
    return { ...tree, entries };
  }

  async #plan(reference: Reference, file: string): Promise<Tree | undefined> {
    this.files.set(file, Promise.resolve(undefined));
    const source = readText(file);
    if ("reason" in source) {
      return this.#complain(reference, file, `${JSON.stringify(reference.name)} ${source.reason}`);
    }
    const { tree, problems } = await (parserOf(file) ?? parseJson)(source);
    this.problems.push(...problems);
    return tree;
  }

  #complain({ place, at }: Reference, file: string, text: string, hint?: string): undefined {
    this.problems.push({
      place: place ?? { source: { file, text: "" }, offset: -1 },
      pointer: pointerTo(at),
      text,
      ...(hint !== undefined && { hint }),
    });
  }

  /** A shipped name, or a file of the same folder, with a similar name. */
  #meant(name: string, file: string): string {
    const folder = dirname(file);
    const others = existsSync(folder) ? readdirSync(folder).filter((it) => parserOf(it) && it !== basename(file)) : [];
    // names without endings: the same ending is no similarity
    const near = nearest(stemOf(file), others.map(stemOf));
    const neighbour = others.find((it) => stemOf(it) === near);
    const shipped = [...this.#shipped.keys()];
    const known = neighbour === undefined ? shipped : [join(dirname(name), neighbour)];
    return meantOf(name, known) ?? `shipped scenarios are ${shipped.join(", ")}; anything else is a path`;
  }
}

const stemOf = (file: string): string => basename(file, extname(file));

const parsers: Readonly<Record<string, (source: Source) => Promise<ParsedText>>> = {
  ".json": parseJson,
  ".jsonc": parseJson,
  ".yaml": parseYaml,
  ".yml": parseYaml,
};

export const parserOf = (file: string) => parsers[extname(file).toLowerCase()];

interface Unreadable {
  readonly reason: string;
  readonly isWrongName?: true;
}

export function readText(file: string): Source | Unreadable {
  try {
    const bytes = readRegularFile(file, maxBytes);
    if (!isUtf8(bytes) || bytes.includes(0)) return { reason: "is not text in UTF-8; save it as UTF-8" };
    const text = bytes.toString();
    if (text.trim() === "") return { reason: "is empty; `phx-sim scenario init` writes a scenario to begin with" };
    // some editors write a byte order mark
    return { file, text: text.replace(/^\ufeff/, "") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return reasons[code] ?? { reason: `cannot be read: ${code}` };
  }
}

const reasons: Readonly<Record<string, Unreadable>> = {
  ENOENT: { reason: "does not exist", isWrongName: true },
  ENOTDIR: { reason: "does not exist", isWrongName: true },
  EISDIR: { reason: "is a folder; expected a file", isWrongName: true },
  EACCES: { reason: "cannot be read: permission denied" },
  EPERM: { reason: "cannot be read: permission denied" },
  TOO_LARGE: { reason: `is larger than ${maxBytes / 1024 / 1024} MB` },
  NOT_REGULAR: { reason: "is a pipe, a socket or a device; expected a file" },
  ENXIO: { reason: "is a pipe, a socket or a device; expected a file" },
  ELOOP: { reason: "is a symbolic link to itself" },
};
