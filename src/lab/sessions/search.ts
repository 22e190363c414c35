import { isUtf8 } from "node:buffer";
import { isObject, type Json, type JsonObject, numberIn, objectsIn, own, textIn } from "../../kernel/base/json.ts";
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

/** The nodes of a recorded window by their ids, and the texts of its events. */
function createWindow() {
  const nodes = new Map<number, MirrorNode>();
  /** Frames without a page, by id; a page that is attached later removes its frame. */
  const emptyFrames = new Set<number>();
  /** Of the full snapshots before the last one: each has the frames of the page again. */
  let framesBefore = 0;
  let hasPage = false;
  const emptyFrameCount = (): number => Math.max(framesBefore, emptyFrames.size);
  const unread: Partial<Record<Unreadable, number>> = {};
  function cannotRead(what: Unreadable, count = 1): void {
    if (count > 0) unread[what] = (unread[what] ?? 0) + count;
  }

  /** Nodes of this event whose line of text is another one than before. */
  let changed: number[] = [];
  const nodeAt = (id: number | undefined): MirrorNode | undefined => (id === undefined ? undefined : nodes.get(id));

  function unlink(id: number): void {
    const node = nodes.get(id);
    if (!node) return;
    const [parent, before, after] = [node.parent, node.before, node.after].map(nodeAt);
    if (before) before.after = node.after;
    else if (parent?.first === id) parent.first = node.after;
    if (after) after.before = node.before;
    else if (parent?.last === id) parent.last = node.before;
    if (node.before !== undefined && after) changed.push(node.before);
    node.parent = undefined;
    node.before = undefined;
    node.after = undefined;
  }

  function link(id: number, parentId: number, nextId?: number): void {
    const [node, parent, next] = [id, parentId, nextId].map(nodeAt);
    if (!node || !parent || id === parentId) return;
    const after = next?.parent === parentId && next !== node ? next : undefined;
    node.after = after && nextId;
    node.before = after ? after.before : parent.last;
    const before = nodeAt(node.before);
    if (before) before.after = id;
    else parent.first = id;
    if (after) after.before = id;
    else parent.last = id;
  }

  const isInline = (id: number | undefined): boolean => {
    const tag = nodeAt(id)?.tag ?? "";
    return inline.has(tag) || tag.includes("-");
  };
  /** What a node adds to its line of text: nothing for a comment; undefined: the line ends here. */
  const lineTextOf = (id: number): string | undefined => {
    const node = nodes.get(id);
    if (node?.tag === "") return node.text ?? "";
    return node?.tag === "br" ? "\n" : isInline(id) ? "" : undefined;
  };

  /** The node that follows in the same line, inside this one or behind it. */
  function nextInLine(id: number): number | undefined {
    const inside = isInline(id) ? nodes.get(id)?.first : undefined;
    if (inside !== undefined) return inside;
    let at = nodes.get(id);
    for (let steps = 0; at && steps < deepestLine; steps++) {
      if (at.after !== undefined || !isInline(at.parent)) return at.after;
      at = nodeAt(at.parent);
    }
    return undefined;
  }

  function previousInLine(id: number): number | undefined {
    let at = nodes.get(id);
    for (let steps = 0; at && steps < deepestLine; steps++) {
      if (at.before !== undefined) return lastInside(at.before);
      if (!isInline(at.parent)) return undefined;
      at = nodeAt(at.parent);
    }
    return undefined;
  }

  function lastInside(id: number): number {
    let at = id;
    for (let steps = 0; isInline(at) && steps < deepestLine; steps++) at = nodes.get(at)?.last ?? at;
    return at;
  }

  function* alongLine(from: number | undefined, next: (id: number) => number | undefined, most: number) {
    let left = most;
    for (let at = from, steps = 0; at !== undefined && left > 0 && steps < longestLine.nodes; steps++) {
      const text = lineTextOf(at);
      if (text === undefined) return;
      left -= text.length;
      yield [at, text] as const;
      at = next(at);
    }
  }

  function* lines(): Generator<RecordedText> {
    const done = new Set<number>();
    for (const id of changed) {
      if (done.has(id)) continue;
      const before = [...alongLine(previousInLine(id), previousInLine, longestLine.before)].reverse();
      const behind = [...alongLine(id, nextInLine, longestLine.behind)];
      for (const [at] of behind) done.add(at);
      const pieces = [...before, ...behind].map(([, text]) => text).filter((text) => text !== "");
      if (pieces.length > 1) yield { place: "text", text: pieces.join(""), node: nodes.get(id)?.parent, pieces };
    }
    changed = [];
  }

  function* attribute(id: number, name: string, value: Json, tag: string): Generator<RecordedText> {
    const place: RecordedPlace = styleAttributes.has(name) ? "style" : "attribute";
    if (!plainName.test(name)) yield { place: "attribute", text: name, node: id };
    if (isObject(value)) {
      // a change of inline styles: property → value, or [value, priority]
      for (const [property, set] of Object.entries(value)) yield* walk("style", set, id, `${name}.${property}`);
      return;
    }
    if (typeof value === "number") yield { place, text: String(value), node: id, name };
    if (typeof value !== "string") return;
    if (!dataUrl.test(value)) {
      cannotRead("image", imagesIn(value));
      yield { place, text: value, node: id, name };
      return;
    }
    const text = textOfData(value);
    if (text !== undefined) yield { place, text, node: id, name };
    else cannotRead(tag === "canvas" || (tag !== "img" && imageAttributes.has(name)) ? "canvas" : "image");
  }

  function* serialized(root: JsonObject, under?: number, before?: number): Generator<RecordedText> {
    const rest: (readonly [node: JsonObject, parent: number | undefined])[] = [[root, under]];
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [node, parent] = next;
      const id = numberIn(node, "id") ?? 0;
      const tag = textIn(node, "tagName");
      const attributes = isObject(node.attributes) ? node.attributes : withoutNodes;
      unlink(id);
      nodes.set(id, { parent, tag, attributes });
      if (parent !== undefined) link(id, parent, node === root ? before : undefined);
      if (parent !== undefined && node.type === nodeTypes.document) emptyFrames.delete(parent);
      if (frames.has(tag)) emptyFrames.add(id);
      for (const name in attributes) yield* attribute(id, name, attributes[name] ?? null, tag);
      for (const name of ["textContent", "name", "publicId", "systemId"]) {
        const text = own(node, name);
        if (typeof text === "string")
          yield { place: node.isStyle === true || isInStyle(parent) ? "style" : "text", text, node: parent ?? id };
      }
      noteText(id, node.type, own(node, "textContent"));
      const children = objectsIn(node.childNodes);
      for (let at = children.length - 1; at >= 0; at--) rest.push([children[at] ?? withoutNodes, id]);
    }
  }

  function noteText(id: number, type: Json | undefined, text: Json | undefined): void {
    const node = nodes.get(id);
    const isText = type === nodeTypes.text || type === nodeTypes.cdata;
    if (!isText || typeof text !== "string" || !node || isInStyle(node.parent)) return;
    node.text = text;
    changed.push(id);
  }

  const isInStyle = (id: number | undefined): boolean =>
    id !== undefined && nodes.get(id)?.tag.toLowerCase() === "style";

  /** Nodes that were added, those after their next sibling that are added, too. */
  function* added(adds: readonly JsonObject[]): Generator<RecordedText> {
    const later: JsonObject[] = [];
    const put = (add: JsonObject) =>
      isObject(add.node) ? serialized(add.node, numberIn(add, "parentId"), numberIn(add, "nextId")) : [];
    for (const add of adds) {
      const next = numberIn(add, "nextId");
      if (next !== undefined && !nodes.has(next)) later.push(add);
      else yield* put(add);
    }
    for (const add of later.reverse()) yield* put(add);
  }

  function* mutation(data: JsonObject): Generator<RecordedText> {
    for (const { id } of objectsIn(data.removes)) if (typeof id === "number") unlink(id);
    yield* added(objectsIn(data.adds));
    for (const { id, value } of objectsIn(data.texts)) {
      if (typeof value !== "string" || typeof id !== "number") continue;
      const { parent } = nodes.get(id) ?? {};
      yield { place: isInStyle(parent) ? "style" : "text", text: value, node: parent ?? id };
      noteText(id, nodeTypes.text, value);
    }
    for (const { id, attributes } of objectsIn(data.attributes)) {
      if (!isObject(attributes) || typeof id !== "number") continue;
      const tag = nodes.get(id)?.tag ?? "";
      for (const [name, value] of Object.entries(attributes)) yield* attribute(id, name, value, tag);
    }
    // mobile apps send changes of wireframes as mutations
    yield* walk("text", data.updates ?? null, undefined, "updates");
    if (objectsIn(data.adds).some((it) => isObject(it.wireframe)))
      yield* walk("text", data.adds ?? null, undefined, "adds");
  }

  function* walk(place: RecordedPlace, value: Json, node: number | undefined, name: string): Generator<RecordedText> {
    const rest: (readonly [value: Json, name: string])[] = [[value, name]];
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [it, path] = next;
      if (typeof it === "string") {
        const text = textOfData(it);
        if (isPacked(it)) cannotRead("unknown");
        else if (text === undefined) cannotRead("image");
        else {
          if (place !== "console") cannotRead("image", dataUrl.test(it) ? 0 : imagesIn(it));
          yield { place, text, node, name: path };
        }
      } else if (typeof it === "number") yield { place, text: String(it), node, name: path };
      else if (Array.isArray(it)) for (const [at, one] of it.entries()) rest.push([one, `${path}[${at}]`]);
      else if (isObject(it)) {
        for (const [key, one] of Object.entries(it)) {
          if (key === "base64" && typeof one === "string") {
            cannotRead("screenshot");
            continue;
          }
          yield { place, text: key, node, name: path };
          rest.push([one, path === "" ? key : `${path}.${key}`]);
        }
      }
    }
  }

  function* full(data: JsonObject): Generator<RecordedText> {
    hasPage ||= isObject(data.node) || Array.isArray(data.wireframes);
    nodes.clear();
    changed = [];
    framesBefore = emptyFrameCount();
    emptyFrames.clear();
    if (isObject(data.node)) yield* serialized(data.node, undefined);
    yield* walk("text", data.wireframes ?? null, undefined, "wireframes");
  }

  function* incremental(data: JsonObject): Generator<RecordedText> {
    const node = numberIn(data, "id");
    switch (data.source) {
      case recordedSources.mutation:
        return yield* mutation(data);
      case recordedSources.input:
        return yield* walk("input", data.text ?? null, node, "value");
      case recordedSources.canvas:
        return cannotRead("canvas");
      case recordedSources.font: {
        cannotRead("font");
        return yield* walk("style", data.family ?? null, undefined, "family");
      }
      case recordedSources.mouseMove:
      case recordedSources.touchMove:
      case recordedSources.drag:
      case recordedSources.scroll:
      case recordedSources.mouse:
      case recordedSources.resize:
      case recordedSources.media:
      case recordedSources.selection:
        return;
      case recordedSources.styleRule:
      case recordedSources.styleDeclaration:
      case recordedSources.adoptedStyles:
        return yield* walk("style", data, node, "");
      case recordedSources.log:
        return yield* walk("console", data, node, "");
      case recordedSources.customElement:
        return yield* walk("other", data, node, "");
      default:
        cannotRead("unknown");
        yield* walk("other", data, node, "");
    }
  }

  function* textsIn(event: RecordedEvent): Generator<RecordedText> {
    yield* singleTexts(event);
    yield* lines();
  }

  function* singleTexts({ type, data }: RecordedEvent): Generator<RecordedText> {
    switch (type) {
      case recordedTypes.domLoaded:
      case recordedTypes.load:
        return yield* walk("other", data, undefined, "");
      case recordedTypes.full:
        return yield* full(data);
      case recordedTypes.incremental:
        return yield* incremental(data);
      case recordedTypes.meta:
        return yield* walk("page", data.href ?? null, undefined, "href");
      case recordedTypes.plugin:
        return yield* walk(byPlugin(textIn(data, "plugin")), data.payload ?? null, undefined, "");
      case recordedTypes.custom:
        return yield* walk(/network/i.test(textIn(data, "tag")) ? "network" : "custom", data, undefined, "");
      default:
        cannotRead("unknown");
        yield* walk("other", data, undefined, "");
    }
  }

  const simpleName = /^[A-Za-z_][\w-]{0,60}$/;

  /** `form#checkout > input[name="email"]`; names in it are left out if they hold a wanted value. */
  function pathOf(id: number | undefined, values: Values): string | null {
    const isShown = (name: Json | undefined): name is string =>
      typeof name === "string" && simpleName.test(name) && values.in(name).size === 0;
    const parts: string[] = [];
    for (let at = id, steps = 0; at !== undefined && parts.length < longestPath && steps < 2_000; steps++) {
      const node = nodes.get(at);
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

  return {
    textsIn,
    pathOf,
    tagOf: (id: number | undefined): string | null => (id === undefined ? null : nodes.get(id)?.tag || null),
    unread,
    emptyFrameCount,
    hasPage: () => hasPage,
  };
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
  const window = createWindow();
  for (const event of events) {
    for (const { place, text, node, pieces } of window.textsIn(event))
      yield { place, text, element: window.tagOf(node), pieces };
  }
  return window.unread;
}

export interface RecordingSearch {
  examine(window: string, event: RecordedEvent, found: (find: RecordedFind) => void): Work<void>;
  sum(): SearchSum;
}

export function createRecordingSearch(values: Values): RecordingSearch {
  const windows = new Map<string, ReturnType<typeof createWindow>>();
  const texts: Partial<Record<RecordedPlace, number>> = {};
  let [characters, count] = [0, 0];

  function windowOf(id: string) {
    const known = windows.get(id) ?? createWindow();
    windows.set(id, known);
    return known;
  }

  /** The attribute, or the place in what was recorded; `*` if it holds a wanted value itself. */
  const shownName = (name: string | undefined): string | null =>
    name === undefined || name === "" ? null : values.in(name).size > 0 ? "*" : name.slice(0, 200);

  function* examine(id: string, event: RecordedEvent, found: (find: RecordedFind) => void): Work<void> {
    const window = windowOf(id);
    for (const { place, text, node, name, pieces } of window.textsIn(event)) {
      if (pieces === undefined) texts[place] = (texts[place] ?? 0) + 1;
      const all = values.in(text);
      const known = new Set(all.size === 0 ? [] : pieces?.flatMap((it) => [...values.in(it).keys()]));
      for (const [value, writing] of all) {
        if (known.has(value)) continue;
        const path = window.pathOf(node, values);
        found({ value, place, path, name: shownName(name), writing, timestamp: event.timestamp });
      }
      characters += text.length;
      if (++count < pauseAfter.texts && characters < pauseAfter.characters) continue;
      [characters, count] = [0, 0];
      yield undefined;
    }
  }

  function sum(): SearchSum {
    const unread: Partial<Record<Unreadable, number>> = {};
    const add = (what: Unreadable, more: number): void => {
      if (more > 0) unread[what] = (unread[what] ?? 0) + more;
    };
    for (const window of windows.values()) {
      for (const what of unreadableNames) add(what, window.unread[what] ?? 0);
      add("frame", window.emptyFrameCount());
    }
    const withPage = [...windows.values()].filter((it) => it.hasPage()).length;
    return { texts, unread, withoutPage: Math.max(windows.size, 1) - withPage };
  }

  return { examine, sum };
}
