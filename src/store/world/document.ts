import {
  type CollectionName,
  collections,
  emptyWorld,
  type Project,
  type SequenceName,
  type World,
} from "../../model/world.ts";
import {
  type Collection,
  createCollection,
  createTexts,
  type Id,
  type Stored,
  type Texts,
} from "./collection.ts";
import { listText, type Section } from "./layout.ts";
import { clashIn, createProjectKeys, type ProjectKeys } from "./project-keys.ts";
import { collectionOf, createSequences, type Sequences } from "./sequences.ts";

/** One step of a change. */
export type Step = { put: CollectionName; document: Stored } | { remove: CollectionName; id: Id };

/** Hands out the bytes of a key's value as world.json has them. */
export type ReadSection = (key: string) => Buffer;

/** The world as it is kept: each key by itself, parsed when it is first read. */
export interface WorldDocument {
  /** All of it as one object, which follows every change. */
  readonly view: World;
  readonly sequences: Pick<Sequences, "grown" | "raise">;
  get(collection: CollectionName, id: Id): Stored | undefined;
  list(collection: CollectionName): readonly Stored[];
  projectByKey(apiKey: string): Project | undefined;
  versionOf(collection: CollectionName): number;
  isParsed(collection: CollectionName): boolean;
  put(collection: CollectionName, document: Stored): void;
  remove(collection: CollectionName, id: Id): void;
  nextId(sequence: SequenceName): number;
  /** Puts a list back that the collection had. */
  restore(collection: CollectionName, list: readonly Stored[]): void;
  /** @throws Error when two projects have the same key */
  check(): void;
  /** Takes over a step that was checked before, without parsing its collection now. */
  replay(step: Step): void;
  /** Puts another world in the place of this one. @throws Error when two of its documents clash. */
  load(world: World): void;
  /** The document as JSON, which is kept for world.json. */
  text(document: Stored): string;
  /** Its keys and their values, for world.json. */
  sections(): Section[];
}

/** The keys of world.json, in their order. */
export const worldKeys: readonly (keyof World)[] = Object.keys(emptyWorld()) as (keyof World)[];

const isCollection = (key: string): key is CollectionName => collections.some((name) => name === key);

/** A key that no change touches. */
interface Fixed {
  readonly value: unknown;
  bytes(): readonly Buffer[];
}

type Source = World | ReadSection;

/** All that a world is made of; another one takes its place as a whole. */
interface Parts {
  collections: ReadonlyMap<CollectionName, Collection>;
  fixed: ReadonlyMap<string, Fixed>;
  sequences: Sequences;
  /** Made when first asked for. */
  keys: ProjectKeys | undefined;
}

/** `source`: a world, or what reads the bytes of a sealed one. @throws Error when two documents of a world clash. */
export function createDocument(source: Source): WorldDocument {
  const texts = createTexts();
  const versions = new Map<CollectionName, number>();
  let parts = partsOf(source, texts);

  const of = (name: CollectionName): Collection => found(parts.collections.get(name));
  const projects = () => of("projects").list as readonly Project[];

  function keys(): ProjectKeys {
    parts.keys ??= createProjectKeys(projects());
    return parts.keys;
  }

  const touch = (name: CollectionName) => versions.set(name, (versions.get(name) ?? 0) + 1);

  function readKey(key: string): unknown {
    if (isCollection(key)) return of(key).list;
    return key === "sequences" ? parts.sequences.known() : found(parts.fixed.get(key)).value;
  }

  function bytesOf(key: string): readonly Buffer[] {
    if (isCollection(key)) return of(key).bytes();
    if (key === "sequences") return [Buffer.from(JSON.stringify(parts.sequences.known()))];
    return found(parts.fixed.get(key)).bytes();
  }

  const document: WorldDocument = {
    view: viewOf(readKey),
    sequences: {
      grown: () => parts.sequences.grown(),
      raise: (highest) => parts.sequences.raise(highest),
    },
    get: (name, id) => of(name).get(id),
    list: (name) => of(name).list,
    projectByKey: (apiKey) => keys().find(apiKey),
    versionOf: (name) => versions.get(name) ?? 0,
    isParsed: (name) => of(name).isParsed,
    put(name, it) {
      const before = of(name).get(it.id);
      if (before) parts.sequences.saw(name, before);
      parts.sequences.saw(name, it);
      if (name === "projects") keys().put(it as Project, before as Project | undefined);
      of(name).put(it);
      touch(name);
    },
    remove(name, id) {
      const before = of(name).get(id);
      if (!before) return;
      if (name === "projects") keys().remove(before as Project);
      parts.sequences.saw(name, before);
      of(name).remove(id);
      touch(name);
    },
    nextId: (sequence) => parts.sequences.next(sequence, () => of(collectionOf(sequence)).list),
    restore(name, list) {
      of(name).restore(list);
      if (name === "projects") keys().rebuild(projects());
      touch(name);
    },
    check: () => keys().check((project) => of("projects").get(project.id) === project),
    replay(step) {
      if ("put" in step) of(step.put).defer({ put: step.document });
      else of(step.remove).defer({ remove: step.id });
    },
    load(world) {
      parts = partsOf(world, texts);
      for (const name of collections) touch(name);
    },
    text(it) {
      const text = JSON.stringify(it);
      texts.set(it, Buffer.from(text));
      return text;
    },
    sections: () => worldKeys.map((key): Section => [key, bytesOf(key)]),
  };
  return document;
}

function found<T>(it: T | undefined): T {
  if (it === undefined) throw new Error("every key of a world has its part");
  return it;
}

/** An object with the world's keys, each read when it is asked for. */
const viewOf = (readKey: (key: string) => unknown): World =>
  Object.defineProperties(
    {},
    Object.fromEntries(worldKeys.map((key) => [key, { enumerable: true, get: () => readKey(key) }])),
    // The keys are a world's, and so are their values.
  ) as World;

function partsOf(source: Source, texts: Texts): Parts {
  const clash = typeof source === "function" ? undefined : clashOf(source);
  if (clash) throw new Error(clash);
  const fixedKeys = worldKeys.filter((key) => !isCollection(key) && key !== "sequences");
  const isRead = typeof source === "function";
  return {
    collections: new Map(
      collections.map((name) => [
        name,
        createCollection(isRead ? () => source(name) : [...source[name]], texts),
      ]),
    ),
    fixed: new Map(
      fixedKeys.map((key) => [key, isRead ? fixedIn(() => source(key)) : fixedOf(source[key], texts)]),
    ),
    sequences: createSequences(() =>
      isRead ? JSON.parse(source("sequences").toString("utf8")) : source.sequences,
    ),
    keys: undefined,
  };
}

const fixedOf = (value: unknown, texts: Texts): Fixed => ({
  value,
  bytes: () => (Array.isArray(value) ? listText(value.map(texts.of)) : [Buffer.from(JSON.stringify(value))]),
});

function fixedIn(bytes: () => Buffer): Fixed {
  let read: { value: unknown } | undefined;
  return {
    get value() {
      read ??= { value: JSON.parse(bytes().toString("utf8")) };
      return read.value;
    },
    bytes: () => [bytes()],
  };
}

/** Says which documents of a world cannot stand beside each other; undefined when all can. */
export function clashOf(world: World): string | undefined {
  const projects = clashIn(world.projects);
  if (projects) return projects;
  for (const name of collections) {
    const seen = new Set<Id>();
    for (const { id } of world[name]) {
      if (seen.has(id)) return `two documents of "${name}" have the same id ${JSON.stringify(id)}`;
      seen.add(id);
    }
  }
  return undefined;
}
