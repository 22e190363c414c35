import { listText, textsIn } from "./layout.ts";

export type Id = number | string;

/** What a collection needs to know of its documents. */
export interface Stored {
  readonly id: Id;
}

/** A put or a remove that is taken over when the collection is first read. */
type Edit = { put: Stored } | { remove: Id };

/** The text of a document in world.json. Documents are replaced, never changed: each is written as JSON once. */
export interface Texts {
  of(document: object): Buffer;
  set(document: object, text: Buffer): void;
}

export function createTexts(): Texts {
  // Weak: a text goes with its document.
  const known = new WeakMap<object, Buffer>();
  return {
    of(document) {
      const text = known.get(document) ?? Buffer.from(JSON.stringify(document));
      known.set(document, text);
      return text;
    },
    set: (document, text) => known.set(document, text),
  };
}

/** The documents of one kind, in their order. Read from their bytes when they are first asked for. */
export interface Collection {
  /** A new list after each change; the old ones stay as they are. */
  readonly list: readonly Stored[];
  readonly isParsed: boolean;
  get(id: Id): Stored | undefined;
  /** Adds a document at the end, or puts it in the place of the one with its id. */
  put(document: Stored): void;
  remove(id: Id): void;
  /** Like put and remove, without parsing the bytes now. */
  defer(edit: Edit): void;
  /** Puts back a list that it had. */
  restore(list: readonly Stored[]): void;
  /** Its value in world.json; unparsed bytes are handed on as they are. */
  bytes(): readonly Buffer[];
}

/** `source`: the documents, or what reads the bytes that `bytes()` once made. */
export function createCollection(source: readonly Stored[] | (() => Buffer), texts: Texts): Collection {
  // In a Map the order of documents survives their replacement.
  let byId: Map<Id, Stored> | undefined;
  let list: readonly Stored[] | undefined;
  let deferred: Edit[] = [];

  function load(documents: readonly Stored[]): Map<Id, Stored> {
    byId = new Map(documents.map((it) => [it.id, it]));
    list = documents;
    return byId;
  }

  function documents(): Map<Id, Stored> {
    if (byId) return byId;
    byId = load(typeof source === "function" ? documentsIn(source(), texts) : source);
    for (const edit of deferred) apply(byId, edit);
    deferred = [];
    return byId;
  }

  function apply(to: Map<Id, Stored>, edit: Edit): void {
    list = undefined;
    if ("put" in edit) to.set(edit.put.id, edit.put);
    else to.delete(edit.remove);
  }

  function listed(): readonly Stored[] {
    const all = documents();
    list ??= [...all.values()];
    return list;
  }

  return {
    get list() {
      return listed();
    },
    get isParsed() {
      return byId !== undefined;
    },
    get: (id) => documents().get(id),
    put: (document) => apply(documents(), { put: document }),
    remove: (id) => apply(documents(), { remove: id }),
    defer(edit) {
      if (byId) apply(byId, edit);
      else deferred.push(edit);
    },
    restore: load,
    bytes() {
      if (!byId && deferred.length === 0 && typeof source === "function") return [source()];
      return listText(listed().map(texts.of));
    },
  };
}

function documentsIn(bytes: Buffer, texts: Texts): Stored[] {
  // Sealed bytes: we wrote them after checking.
  const documents = JSON.parse(bytes.toString("utf8")) as Stored[];
  const lines = textsIn(bytes);
  for (const [i, document] of documents.entries()) {
    const line = lines[i];
    if (line && lines.length === documents.length) texts.set(document, line);
  }
  return documents;
}
