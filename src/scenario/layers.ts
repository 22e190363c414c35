import { isUtf8 } from "node:buffer";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Json } from "../base/json.ts";
import { type Path, pointerTo } from "../base/json-pointer.ts";
import { meantOf, nearest } from "../base/nearest.ts";
import type { Read } from "./growth.ts";
import { completed, layOver, settled, type Whole } from "./only-project.ts";
import type { PlacedProblem } from "./problems.ts";
import { readJson } from "./read-json.ts";
import { readYaml } from "./read-yaml.ts";
import type { ScenarioLayer } from "./schema.ts";
import { shippedScenarios } from "./shipped.ts";
import { type ObjectTree, type Place, type Source, type Tree, treeOf } from "./tree.ts";

/** A shipped scenario's name, a path, or (a part of) a scenario as a program made it. */
export type LayerSource = string | ScenarioLayer;

/** Several layers as one, with everything that they extend. */
export interface Layered {
  /** Missing when there is a layer that cannot be read. */
  readonly whole?: Whole;
  readonly problems: readonly PlacedProblem[];
  /** Absolute paths of all files that were read or should have been, without repetition; the top ones first. */
  readonly files: readonly string[];
}

/** More than anybody can follow. */
const mostDepth = 16;
const mostBytes = 64 * 1024 * 1024;

/** One reading of layers: each file is read and laid over its bases once, however often it is extended. */
interface Visit {
  readonly files: Map<string, Promise<Tree | undefined>>;
  readonly problems: PlacedProblem[];
  readonly shipped: ReadonlyMap<string, string>;
}

/** Where a layer is called by its name or path. */
interface Call {
  readonly name: string;
  /** Relative paths start here. */
  readonly folder: string;
  /** Undefined for what the user named; then problems are about the file itself. */
  readonly place?: Place;
  readonly at: Path;
  /** The files that lead here, the top one first. */
  readonly chain: readonly string[];
}

/** Reads layers and what they extend, and lays them over each other: later ones over earlier ones. */
export async function readLayers(sources: readonly LayerSource[], folder = process.cwd()): Promise<Layered> {
  const visit: Visit = { files: new Map(), problems: [], shipped: shippedScenarios() };
  const layers: (Tree | undefined)[] = [];
  for (const source of sources) {
    const layer =
      typeof source === "string"
        ? await readNamed(visit, { name: source, folder, at: [], chain: [] })
        : await readGiven(visit, source, folder);
    layers.push(layer);
  }
  if (sources.length === 0) {
    visit.problems.push({ place: nowhere, pointer: "", text: "expected at least one scenario" });
  }
  const tree = together(layers);
  const whole = tree && completed(tree, (problem) => visit.problems.push(problem));
  return { ...(whole && { whole }), problems: visit.problems, files: [...visit.files.keys()] };
}

/** Missing when one of them is. */
function together(layers: readonly (Tree | undefined)[]): Tree | undefined {
  const there = layers.filter((it) => it !== undefined);
  return there.length === layers.length && there.length > 0 ? there.reduce(layOver) : undefined;
}

/** Where everything is that a program made. */
const nowhere: Place = { source: { file: null, text: "" }, offset: 0 };

function readGiven(visit: Visit, given: ScenarioLayer, folder: string): Promise<Tree | undefined> {
  // A copy: keys that are undefined are absent, and later changes of the caller's do nothing.
  const value: Json = JSON.parse(JSON.stringify(given));
  const tree = treeOf(value, nowhere);
  return withBases(visit, tree, folder, []);
}

async function readNamed(visit: Visit, call: Call): Promise<Tree | undefined> {
  const file = fileOf(visit, call);
  if (call.chain.includes(file)) {
    return complain(visit, call, file, `${loopOf(call.chain, file)}: a scenario cannot extend itself`);
  }
  if (call.chain.length >= mostDepth) {
    return complain(visit, call, file, `expected at most ${mostDepth} scenarios above each other`);
  }
  const reading = visit.files.get(file) ?? readFile(visit, call, file);
  visit.files.set(file, reading);
  return reading;
}

async function readFile(visit: Visit, call: Call, file: string): Promise<Tree | undefined> {
  const source = readText(file);
  if ("reason" in source) {
    const name = call.place ? `${JSON.stringify(call.name)} ` : "";
    const hint = source.isAnotherMeant ? meant(visit, call, file) : undefined;
    return complain(visit, call, file, `${name}${source.reason}`, hint);
  }
  const { tree, problems } = await parse(source);
  visit.problems.push(...problems);
  return tree && withBases(visit, tree, dirname(file), [...call.chain, file]);
}

function complain(visit: Visit, call: Call, file: string, text: string, hint?: string): undefined {
  const place = call.place ?? { source: { file, text: "" }, offset: -1 };
  visit.problems.push({ place, pointer: pointerTo(call.at), text, ...(hint !== undefined && { hint }) });
}

const loopOf = (chain: readonly string[], file: string): string =>
  [...chain.slice(chain.indexOf(file)), file].map((it) => basename(it)).join(" → ");

/** A bare word is a shipped scenario's name if there is one, anything else is a path. */
function fileOf({ shipped }: Visit, { name, folder }: Call): string {
  return (/^[\w-]+$/.test(name) ? shipped.get(name) : undefined) ?? resolve(folder, name);
}

/** Why there is no text, and whether the name is what is wrong. */
interface Unreadable {
  readonly reason: string;
  readonly isAnotherMeant?: true;
}

function readText(file: string): Source | Unreadable {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > mostBytes) return { reason: `is larger than ${mostBytes / 1024 / 1024} MB` };
    if (!isUtf8(bytes) || bytes.includes(0)) return { reason: "is not text in UTF-8; save it as UTF-8" };
    const text = bytes.toString();
    if (text.trim() === "")
      return { reason: "is empty; `phx-sim scenario init` writes a scenario to begin with" };
    // Some editors put a byte order mark in front.
    return { file, text: text.replace(/^\ufeff/, "") };
  } catch (error) {
    return reasons[codeOf(error)] ?? { reason: `cannot be read: ${codeOf(error)}` };
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

const reasons: Readonly<Record<string, Unreadable>> = {
  ENOENT: { reason: "does not exist", isAnotherMeant: true },
  ENOTDIR: { reason: "does not exist", isAnotherMeant: true },
  EISDIR: { reason: "is a folder; expected a file", isAnotherMeant: true },
  EACCES: { reason: "cannot be read: permission denied" },
  EPERM: { reason: "cannot be read: permission denied" },
  ELOOP: { reason: "is a symbolic link to itself" },
};

/** A shipped name, or a file of the same folder, that is spelled nearly like what was asked for. */
function meant({ shipped }: Visit, { name }: Call, file: string): string | undefined {
  const folder = dirname(file);
  const beside = existsSync(folder) ? readdirSync(folder).filter((it) => formatOf(it) !== undefined) : [];
  const others = beside.filter((it) => it !== basename(file));
  // The same ending is no likeness.
  const near = nearest(stemOf(file), others.map(stemOf));
  const neighbour = others.find((it) => stemOf(it) === near);
  const known = neighbour === undefined ? [...shipped.keys()] : [join(dirname(name), neighbour)];
  return (
    meantOf(name, known) ?? `shipped scenarios are ${[...shipped.keys()].join(", ")}; anything else is a path`
  );
}

const stemOf = (file: string): string => basename(file, extname(file));

type Parse = (source: Source) => Promise<Read>;

const formats: Readonly<Record<string, Parse>> = {
  ".json": readJson,
  ".jsonc": readJson,
  ".yaml": readYaml,
  ".yml": readYaml,
};

const formatOf = (file: string): Parse | undefined => formats[extname(file).toLowerCase()];

/** A file of another name is JSON: `/dev/stdin`, too. */
const parse: Parse = (source) => (formatOf(source.file ?? "") ?? readJson)(source);

/** The tree laid over what it extends, and no longer saying so. */
async function withBases(
  visit: Visit,
  written: Tree,
  folder: string,
  chain: readonly string[],
): Promise<Tree | undefined> {
  const tree = settled(written, (problem) => visit.problems.push(problem));
  const named = tree.kind === "object" ? tree.entries.get("extends")?.tree : undefined;
  if (tree.kind !== "object" || !named) return tree;
  const layers: (Tree | undefined)[] = [];
  const names = named.kind === "list" ? named.items : [named];
  for (const [i, it] of names.entries()) {
    const at = named.kind === "list" ? ["extends", i] : ["extends"];
    layers.push(await readBase(visit, it, { folder, at, chain }));
  }
  return together([...layers, withoutExtends(tree)]);
}

async function readBase(
  visit: Visit,
  named: Tree,
  call: Pick<Call, "folder" | "at" | "chain">,
): Promise<Tree | undefined> {
  const { place } = named;
  if (named.kind === "plain" && typeof named.value === "string") {
    return readNamed(visit, { ...call, name: named.value, place });
  }
  const text = "expected the name or the path of a scenario";
  visit.problems.push({ place, pointer: pointerTo(call.at), text });
  return undefined;
}

function withoutExtends(tree: ObjectTree): ObjectTree {
  return { ...tree, entries: new Map([...tree.entries].filter(([key]) => key !== "extends")) };
}
