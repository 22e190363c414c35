import { isUtf8 } from "node:buffer";
import { isObject, type Json, type JsonObject, numberIn, objectsIn, own, textIn } from "../../kernel/base/json.ts";
import { getOrMake } from "../../kernel/base/recent-map.ts";
import type { Work } from "../../kernel/base/work.ts";
import {
  type RecordedEvent,
  type RecordedPlace,
  recordedSources,
  recordedTypes,
  type Unreadable,
  unreadableNames,
  type ValueWriting,
} from "./rrweb.ts";
import type { Values } from "./wanted.ts";

interface RecordedText {
  readonly place: RecordedPlace;
  readonly text: string;
  readonly node?: number | undefined;
  /** Attribute of the node, or the path in what was recorded. */
  readonly name?: string | undefined;
  /** Texts that a page shows as one; each of them came before, by itself. */
  readonly pieces?: readonly string[] | undefined;
}

export interface RecordedFind {
  /** Index of the value. */
  readonly value: number;
  readonly place: RecordedPlace;
  /** Selector of the element; null for what belongs to none. */
  readonly path: string | null;
  readonly name: string | null;
  readonly writing: ValueWriting;
  /** ms, by the clock of the browser. */
  readonly timestamp: number;
}

export interface SearchSum {
  readonly texts: Partial<Record<RecordedPlace, number>>;
  readonly unread: Partial<Record<Unreadable, number>>;
  /** Windows of which no full snapshot was read: nothing is known of the page that their changes are of. */
  readonly withoutPage: number;
}

interface MirrorNode {
  parent: number | undefined;
  readonly tag: string;
  readonly attributes: JsonObject;
  text?: string;
  first?: number | undefined;
  last?: number | undefined;
  before?: number | undefined;
  after?: number | undefined;
}

const nodeTypes = { document: 0, doctype: 1, element: 2, text: 3, cdata: 4, comment: 5 } as const;
/** Attributes in which rrweb keeps content that no page has as an attribute. */
const imageAttributes: ReadonlySet<string> = new Set(["rr_dataURL"]);
const styleAttributes: ReadonlySet<string> = new Set(["style", "_cssText"]);
const plainName = /^[\w:.-]{1,40}$/;
const frames: ReadonlySet<string> = new Set(["iframe", "frame"]);
/** Elements in a line of text: what is in them belongs to the text around them. */
const inline: ReadonlySet<string> = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark output q s samp small span strong sub sup textPath time tspan tt u var wbr".split(
    " ",
  ),
);
/** What of a line of text is read as one: characters before a node and from it on, and nodes in each direction. */
const longestLine = { before: 4_000, behind: 64 * 1024, nodes: 20_000 };
/** Most elements in one another that a line is followed through. */
const deepestLine = 200;

const dataUrl = /^\s*data:([^,;]*)([^,]*),/i;
const readableTypes = /^(?:text\/|image\/svg\+xml|application\/(?:json|xml|xhtml\+xml|javascript))/i;

function textOfData(url: string): string | undefined {
  const [head, type = "", parameters = ""] = dataUrl.exec(url) ?? [];
  if (head === undefined) return url;
  if (type !== "" && !readableTypes.test(type)) return undefined;
  if (!/;base64/i.test(parameters)) return url;
  const bytes = Buffer.from(url.slice(head.length), "base64");
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

const images = /(?<![\w-])data:image\/(?!svg)/gi;
const imagesIn = (text: string): number => text.match(images)?.length ?? 0;
/** gzip in a field that is not known to be compressed. */
const isPacked = (text: string): boolean => text.startsWith("\u001f\u008b");

const byPlugin = (plugin: string): RecordedPlace =>
  plugin.includes("network") ? "network" : plugin.includes("console") ? "console" : "other";

const withoutNodes: JsonObject = {};
const longestPath = 6;
/** Characters, and texts, between two pauses. */
const pauseAfter = { characters: 256 * 1024, texts: 2_000 };

/** Sources of events without a text. */
const silentSources: ReadonlySet<number> = new Set([
  recordedSources.mouseMove,
  recordedSources.touchMove,
  recordedSources.drag,
  recordedSources.scroll,
  recordedSources.mouse,
  recordedSources.resize,
  recordedSources.media,
  recordedSources.selection,
]);

const placeBySource: Readonly<Record<number, RecordedPlace>> = {
  [recordedSources.styleRule]: "style",
  [recordedSources.styleDeclaration]: "style",
  [recordedSources.adoptedStyles]: "style",
  [recordedSources.log]: "console",
  [recordedSources.customElement]: "other",
};

const simpleName = /^[A-Za-z_][\w-]{0,60}$/;

/** The nodes of a recorded window by their ids, and the texts of its events. */
class RecordedWindow {
  readonly #nodes = new Map<number, MirrorNode>();
  /** Frames without a page, by id; a page that is attached later removes its frame. */
  readonly #emptyFrames = new Set<number>();
  /** Of the full snapshots before the last one: each has the frames of the page again. */
  #framesBefore = 0;
  /** Nodes of this event whose line of text is another one than before. */
  #changed: number[] = [];
  hasPage = false;
  readonly unread: Partial<Record<Unreadable, number>> = {};

  get emptyFrameCount(): number {
    return Math.max(this.#framesBefore, this.#emptyFrames.size);
  }

  #cannotRead(what: Unreadable, count = 1): void {
    if (count > 0) this.unread[what] = (this.unread[what] ?? 0) + count;
  }

  #nodeAt(id: number | undefined): MirrorNode | undefined {
    return id === undefined ? undefined : this.#nodes.get(id);
  }

  #unlink(id: number): void {
    const node = this.#nodes.get(id);
    if (!node) return;
    const [parent, before, after] = [node.parent, node.before, node.after].map((it) => this.#nodeAt(it));
    if (before) before.after = node.after;
    else if (parent?.first === id) parent.first = node.after;
    if (after) after.before = node.before;
    else if (parent?.last === id) parent.last = node.before;
    if (node.before !== undefined && after) this.#changed.push(node.before);
    node.parent = undefined;
    node.before = undefined;
    node.after = undefined;
  }

  #link(id: number, parentId: number, nextId?: number): void {
    const [node, parent, next] = [id, parentId, nextId].map((it) => this.#nodeAt(it));
    if (!node || !parent || id === parentId) return;
    const after = next?.parent === parentId && next !== node ? next : undefined;
    node.after = after && nextId;
    node.before = after ? after.before : parent.last;
    const before = this.#nodeAt(node.before);
    if (before) before.after = id;
    else parent.first = id;
    if (after) after.before = id;
    else parent.last = id;
  }

  #isInline(id: number | undefined): boolean {
    const tag = this.#nodeAt(id)?.tag ?? "";
    return inline.has(tag) || tag.includes("-");
  }

  /** What a node adds to its line of text: nothing for a comment; undefined: the line ends here. */
  #lineTextOf(id: number): string | undefined {
    const node = this.#nodes.get(id);
    if (node?.tag === "") return node.text ?? "";
    return node?.tag === "br" ? "\n" : this.#isInline(id) ? "" : undefined;
  }

  /** The node that follows in the same line, inside this one or behind it. */
  #nextInLine(id: number): number | undefined {
    const inside = this.#isInline(id) ? this.#nodes.get(id)?.first : undefined;
    if (inside !== undefined) return inside;
    let at = this.#nodes.get(id);
    for (let steps = 0; at && steps < deepestLine; steps++) {
      if (at.after !== undefined || !this.#isInline(at.parent)) return at.after;
      at = this.#nodeAt(at.parent);
    }
    return undefined;
  }

  #previousInLine(id: number): number | undefined {
    let at = this.#nodes.get(id);
    for (let steps = 0; at && steps < deepestLine; steps++) {
      if (at.before !== undefined) return this.#lastInside(at.before);
      if (!this.#isInline(at.parent)) return undefined;
      at = this.#nodeAt(at.parent);
    }
    return undefined;
  }

  #lastInside(id: number): number {
    let at = id;
    for (let steps = 0; this.#isInline(at) && steps < deepestLine; steps++) at = this.#nodes.get(at)?.last ?? at;
    return at;
  }

  *#alongLine(from: number | undefined, next: (id: number) => number | undefined, most: number) {
    let left = most;
    for (let at = from, steps = 0; at !== undefined && left > 0 && steps < longestLine.nodes; steps++) {
      const text = this.#lineTextOf(at);
      if (text === undefined) return;
      left -= text.length;
      yield [at, text] as const;
      at = next(at);
    }
  }

  *#lines(): Generator<RecordedText> {
    const done = new Set<number>();
    for (const id of this.#changed) {
      if (done.has(id)) continue;
      const before = [
        ...this.#alongLine(this.#previousInLine(id), (at) => this.#previousInLine(at), longestLine.before),
      ].reverse();
      const behind = [...this.#alongLine(id, (at) => this.#nextInLine(at), longestLine.behind)];
      for (const [at] of behind) done.add(at);
      const pieces = [...before, ...behind].map(([, text]) => text).filter((text) => text !== "");
      if (pieces.length > 1) yield { place: "text", text: pieces.join(""), node: this.#nodes.get(id)?.parent, pieces };
    }
    this.#changed = [];
  }

  *#attribute(id: number, name: string, value: Json, tag: string): Generator<RecordedText> {
    const place: RecordedPlace = styleAttributes.has(name) ? "style" : "attribute";
    if (!plainName.test(name)) yield { place: "attribute", text: name, node: id };
    if (isObject(value)) {
      // a change of inline styles: property → value, or [value, priority]
      for (const [property, set] of Object.entries(value)) yield* this.#walk("style", set, id, `${name}.${property}`);
      return;
    }
    if (typeof value === "number") yield { place, text: String(value), node: id, name };
    if (typeof value !== "string") return;
    if (!dataUrl.test(value)) {
      this.#cannotRead("image", imagesIn(value));
      yield { place, text: value, node: id, name };
      return;
    }
    const text = textOfData(value);
    if (text !== undefined) yield { place, text, node: id, name };
    else this.#cannotRead(tag === "canvas" || (tag !== "img" && imageAttributes.has(name)) ? "canvas" : "image");
  }

  *#serialized(root: JsonObject, under?: number, before?: number): Generator<RecordedText> {
    const rest: (readonly [node: JsonObject, parent: number | undefined])[] = [[root, under]];
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [node, parent] = next;
      const id = numberIn(node, "id") ?? 0;
      const tag = textIn(node, "tagName");
      const attributes = isObject(node.attributes) ? node.attributes : withoutNodes;
      this.#unlink(id);
      this.#nodes.set(id, { parent, tag, attributes });
      if (parent !== undefined) this.#link(id, parent, node === root ? before : undefined);
      if (parent !== undefined && node.type === nodeTypes.document) this.#emptyFrames.delete(parent);
      if (frames.has(tag)) this.#emptyFrames.add(id);
      for (const name in attributes) yield* this.#attribute(id, name, attributes[name] ?? null, tag);
      for (const name of ["textContent", "name", "publicId", "systemId"]) {
        const text = own(node, name);
        if (typeof text === "string")
          yield {
            place: node.isStyle === true || this.#isInStyle(parent) ? "style" : "text",
            text,
            node: parent ?? id,
          };
      }
      this.#noteText(id, node.type, own(node, "textContent"));
      const children = objectsIn(node.childNodes);
      for (let at = children.length - 1; at >= 0; at--) rest.push([children[at] ?? withoutNodes, id]);
    }
  }

  #noteText(id: number, type: Json | undefined, text: Json | undefined): void {
    const node = this.#nodes.get(id);
    const isText = type === nodeTypes.text || type === nodeTypes.cdata;
    if (!isText || typeof text !== "string" || !node || this.#isInStyle(node.parent)) return;
    node.text = text;
    this.#changed.push(id);
  }

  #isInStyle(id: number | undefined): boolean {
    return this.#nodeAt(id)?.tag.toLowerCase() === "style";
  }

  /** Nodes that were added, those after their next sibling that are added, too. */
  *#added(adds: readonly JsonObject[]): Generator<RecordedText> {
    const later: JsonObject[] = [];
    const put = (add: JsonObject) =>
      isObject(add.node) ? this.#serialized(add.node, numberIn(add, "parentId"), numberIn(add, "nextId")) : [];
    for (const add of adds) {
      const next = numberIn(add, "nextId");
      if (next !== undefined && !this.#nodes.has(next)) later.push(add);
      else yield* put(add);
    }
    for (const add of later.reverse()) yield* put(add);
  }

  *#mutation(data: JsonObject): Generator<RecordedText> {
    for (const { id } of objectsIn(data.removes)) if (typeof id === "number") this.#unlink(id);
    yield* this.#added(objectsIn(data.adds));
    for (const { id, value } of objectsIn(data.texts)) {
      if (typeof value !== "string" || typeof id !== "number") continue;
      const { parent } = this.#nodes.get(id) ?? {};
      yield { place: this.#isInStyle(parent) ? "style" : "text", text: value, node: parent ?? id };
      this.#noteText(id, nodeTypes.text, value);
    }
    for (const { id, attributes } of objectsIn(data.attributes)) {
      if (!isObject(attributes) || typeof id !== "number") continue;
      const tag = this.#nodes.get(id)?.tag ?? "";
      for (const [name, value] of Object.entries(attributes)) yield* this.#attribute(id, name, value, tag);
    }
    // mobile apps send changes of wireframes as mutations
    yield* this.#walk("text", data.updates ?? null, undefined, "updates");
    if (objectsIn(data.adds).some((it) => isObject(it.wireframe)))
      yield* this.#walk("text", data.adds ?? null, undefined, "adds");
  }

  *#walk(place: RecordedPlace, value: Json, node: number | undefined, name: string): Generator<RecordedText> {
    const rest: (readonly [value: Json, name: string])[] = [[value, name]];
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [it, path] = next;
      if (typeof it === "string") {
        const text = textOfData(it);
        if (isPacked(it)) this.#cannotRead("unknown");
        else if (text === undefined) this.#cannotRead("image");
        else {
          if (place !== "console") this.#cannotRead("image", dataUrl.test(it) ? 0 : imagesIn(it));
          yield { place, text, node, name: path };
        }
      } else if (typeof it === "number") yield { place, text: String(it), node, name: path };
      else if (Array.isArray(it)) for (const [at, one] of it.entries()) rest.push([one, `${path}[${at}]`]);
      else if (isObject(it)) {
        for (const [key, one] of Object.entries(it)) {
          if (key === "base64" && typeof one === "string") {
            this.#cannotRead("screenshot");
            continue;
          }
          yield { place, text: key, node, name: path };
          rest.push([one, path === "" ? key : `${path}.${key}`]);
        }
      }
    }
  }

  *#full(data: JsonObject): Generator<RecordedText> {
    this.hasPage ||= isObject(data.node) || Array.isArray(data.wireframes);
    this.#nodes.clear();
    this.#changed = [];
    this.#framesBefore = this.emptyFrameCount;
    this.#emptyFrames.clear();
    if (isObject(data.node)) yield* this.#serialized(data.node, undefined);
    yield* this.#walk("text", data.wireframes ?? null, undefined, "wireframes");
  }

  *#incremental(data: JsonObject): Generator<RecordedText> {
    const node = numberIn(data, "id");
    const source = numberIn(data, "source") ?? -1;
    if (source === recordedSources.mutation) return yield* this.#mutation(data);
    if (source === recordedSources.input) return yield* this.#walk("input", data.text ?? null, node, "value");
    if (source === recordedSources.canvas) return this.#cannotRead("canvas");
    if (source === recordedSources.font) {
      this.#cannotRead("font");
      return yield* this.#walk("style", data.family ?? null, undefined, "family");
    }
    if (silentSources.has(source)) return;
    const place = placeBySource[source];
    if (place === undefined) this.#cannotRead("unknown");
    yield* this.#walk(place ?? "other", data, node, "");
  }

  *textsIn(event: RecordedEvent): Generator<RecordedText> {
    yield* this.#singleTexts(event);
    yield* this.#lines();
  }

  *#singleTexts({ type, data }: RecordedEvent): Generator<RecordedText> {
    switch (type) {
      case recordedTypes.domLoaded:
      case recordedTypes.load:
        return yield* this.#walk("other", data, undefined, "");
      case recordedTypes.full:
        return yield* this.#full(data);
      case recordedTypes.incremental:
        return yield* this.#incremental(data);
      case recordedTypes.meta:
        return yield* this.#walk("page", data.href ?? null, undefined, "href");
      case recordedTypes.plugin:
        return yield* this.#walk(byPlugin(textIn(data, "plugin")), data.payload ?? null, undefined, "");
      case recordedTypes.custom:
        return yield* this.#walk(/network/i.test(textIn(data, "tag")) ? "network" : "custom", data, undefined, "");
      default:
        this.#cannotRead("unknown");
        yield* this.#walk("other", data, undefined, "");
    }
  }

  /** `form#checkout > input[name="email"]`; names in it are left out if they hold a wanted value. */
  pathOf(id: number | undefined, values: Values): string | null {
    const isShown = (name: Json | undefined): name is string =>
      typeof name === "string" && simpleName.test(name) && values.in(name).size === 0;
    const parts: string[] = [];
    for (let at = id, steps = 0; at !== undefined && parts.length < longestPath && steps < 2_000; steps++) {
      const node = this.#nodes.get(at);
      if (!node) break;
      at = node.parent;
      if (node.tag === "") continue;
      const { id: own, name } = node.attributes;
      const tag = isShown(node.tag) ? node.tag : "*";
      parts.unshift(`${tag}${isShown(own) ? `#${own}` : isShown(name) ? `[name="${name}"]` : ""}`);
      if (isShown(own)) break;
    }
    return parts.length === 0 ? null : parts.join(" > ");
  }

  tagOf(id: number | undefined): string | null {
    return this.#nodeAt(id)?.tag || null;
  }
}

interface PartText {
  readonly place: RecordedPlace;
  readonly text: string;
  readonly element: string | null;
  /** Texts that a page shows as one; each of them came before, by itself. */
  readonly pieces: readonly string[] | undefined;
}

/** The texts of one part; returns what of it cannot be read as text. */
export function* textsOfPart(events: readonly RecordedEvent[]): Generator<PartText, SearchSum["unread"]> {
  const window = new RecordedWindow();
  for (const event of events) {
    for (const { place, text, node, pieces } of window.textsIn(event))
      yield { place, text, element: window.tagOf(node), pieces };
  }
  return window.unread;
}

/** Searches what was recorded, event by event; each window has nodes of its own. */
export class RecordingSearch {
  readonly #values: Values;
  readonly #windows = new Map<string, RecordedWindow>();
  readonly #texts: Partial<Record<RecordedPlace, number>> = {};
  #characters = 0;
  #count = 0;

  constructor(values: Values) {
    this.#values = values;
  }

  *examine(id: string, event: RecordedEvent, found: (find: RecordedFind) => void): Work<void> {
    const values = this.#values;
    const window = getOrMake(this.#windows, id, () => new RecordedWindow());
    for (const { place, text, node, name, pieces } of window.textsIn(event)) {
      if (pieces === undefined) this.#texts[place] = (this.#texts[place] ?? 0) + 1;
      const all = values.in(text);
      const known = new Set(all.size === 0 ? [] : pieces?.flatMap((it) => [...values.in(it).keys()]));
      for (const [value, writing] of all) {
        if (known.has(value)) continue;
        const path = window.pathOf(node, values);
        found({ value, place, path, name: this.#shownName(name), writing, timestamp: event.timestamp });
      }
      this.#characters += text.length;
      if (++this.#count < pauseAfter.texts && this.#characters < pauseAfter.characters) continue;
      this.#characters = 0;
      this.#count = 0;
      yield undefined;
    }
  }

  sum(): SearchSum {
    const unread: Partial<Record<Unreadable, number>> = {};
    const add = (what: Unreadable, more = 0): void => {
      if (more > 0) unread[what] = (unread[what] ?? 0) + more;
    };
    const windows = [...this.#windows.values()];
    for (const window of windows) {
      for (const what of unreadableNames) add(what, window.unread[what]);
      add("frame", window.emptyFrameCount);
    }
    const withPage = windows.filter((it) => it.hasPage).length;
    return { texts: this.#texts, unread, withoutPage: Math.max(windows.length, 1) - withPage };
  }

  /** The attribute, or the place in what was recorded; `*` if it holds a wanted value itself. */
  #shownName(name: string | undefined): string | null {
    if (name === undefined || name === "") return null;
    return this.#values.in(name).size > 0 ? "*" : name.slice(0, 200);
  }
}
