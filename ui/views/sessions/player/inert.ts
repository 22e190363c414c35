import { isObject, type Json, type JsonObject, objectsIn, textOf } from "../../../../src/kernel/base/json.ts";
import { type RecordedEvent, recordedSources, recordedTypes } from "../../../../src/lab/sessions/rrweb.ts";

/** Recorded events that load nothing and run nothing, whatever the recorded page had. */
export interface InertEvents {
  readonly events: readonly RecordedEvent[];
  /** Number of images, styles and frames that stay unloaded. */
  readonly unloaded: number;
}

/** Counts what is taken out. */
interface Count {
  unloaded: number;
}

/** rrweb's node types. */
const nodes = { document: 0, doctype: 1, element: 2, text: 3, cdata: 4, comment: 5 } as const;

/** Elements that load, run or redirect: an empty element takes their place. */
const removed: ReadonlySet<string> = new Set(
  "script base object embed applet frame frameset portal fencedframe template".split(" "),
);

const urlNames: ReadonlySet<string> = new Set(
  "src srcset href xlink:href poster data background cite longdesc lowsrc dynsrc imagesrcset code codebase archive rr_dataurl rr_src".split(
    " ",
  ),
);

/** Attributes that run code, navigate or send. */
const unsafeName =
  /^(?:on.*|src(?!set$)\w+|ping|action|formaction|http-equiv|manifest|nonce|integrity|target|download|attributionsrc|autofocus|autoplay)$/i;

const attributeName = /^[a-z_][\w:.-]*$/i;
const tagShape = /^[a-z][\w.-]*$/i;
const picture = /^data:image\/(?:png|jpeg|jpg|gif|webp|avif|bmp|svg\+xml|x-icon)[;,]/i;

/** CSS without anything that would be loaded. Escaped spellings remain; the frame's policy refuses those. */
function inertCss(css: string, count: Count): string {
  const without = css.replace(/@import\b[^;{}]*;?/gi, () => {
    count.unloaded++;
    return "";
  });
  return without.replace(/(?:url|src|image-set|-webkit-image-set)\(\s*(["']?)([^)"']*)\1[^)]*\)/gi, (all, _, to) => {
    if (/^\s*(?:#|data:(?:image|font)\/)/i.test(String(to)) && /^url/i.test(all)) return all;
    count.unloaded++;
    return "none";
  });
}

type Attribute = string | number | true | null;

/** The value of an attribute with an address; undefined: left out. */
function inertAddress(name: string, value: string, tag: string, count: Count): string | undefined {
  if (value.startsWith("#")) return value;
  // keeps the look of a link
  if (name === "href" && (tag === "a" || tag === "area")) return "#";
  if (picture.test(value) && name !== "srcset" && tag !== "iframe" && tag !== "link") return value;
  if (tag !== "a") count.unloaded++;
  return undefined;
}

/** @param tag "" if it is not known: of a changed attribute. */
function inertAttribute(name: string, value: Json, tag: string, count: Count): Attribute | undefined {
  const lower = name.toLowerCase();
  if (!attributeName.test(name) || unsafeName.test(name)) return undefined;
  if (value === null) return null;
  if (typeof value === "number" || value === true) return value;
  if (typeof value !== "string") return undefined;
  if (urlNames.has(lower)) return inertAddress(lower, value, tag, count);
  if (/^\s*(?:javascript|vbscript):/i.test(value)) return undefined;
  return lower === "style" || lower === "_csstext" ? inertCss(value, count) : value;
}

function inertAttributes(attributes: Json | undefined, tag: string, count: Count): JsonObject {
  if (!isObject(attributes) || tag === "meta") return {};
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(attributes)) {
    const inert = inertAttribute(name, value, tag, count);
    if (inert !== undefined) kept[name] = inert;
  }
  return kept;
}

function inertElement(node: JsonObject, count: Count): JsonObject {
  const name = textOf(node.tagName).toLowerCase();
  const isRemoved = removed.has(name) || !tagShape.test(name);
  if (isRemoved) {
    if (name !== "template") count.unloaded += name === "script" || name === "base" ? 0 : 1;
    return { type: nodes.element, id: node.id ?? 0, tagName: "span", attributes: {}, childNodes: [] };
  }
  const { isSVG, isShadowHost, isShadow } = node;
  const children = Array.isArray(node.childNodes) ? node.childNodes : [];
  return {
    type: nodes.element,
    id: node.id ?? 0,
    tagName: name === textOf(node.tagName) ? name : textOf(node.tagName),
    attributes: inertAttributes(node.attributes, name, count),
    childNodes: children.map((it) => inertNode(it, count, name === "style")),
    ...(isSVG === true && { isSVG }),
    ...(isShadowHost === true && { isShadowHost }),
    ...(isShadow === true && { isShadow }),
    ...(typeof node.rootId === "number" && { rootId: node.rootId }),
  };
}

/** A recorded node; what is none becomes an empty comment. */
function inertNode(node: Json, count: Count, isStyle: boolean): JsonObject {
  if (!isObject(node)) return { type: nodes.comment, id: 0, textContent: "" };
  const { id = 0, type } = node;
  const place = { id, ...(typeof node.rootId === "number" && { rootId: node.rootId }) };
  const text = textOf(node.textContent);
  switch (type) {
    case nodes.document: {
      // without compatMode: rrweb would write markup for old doctypes
      const children = Array.isArray(node.childNodes) ? node.childNodes : [];
      return { ...place, type, childNodes: children.map((it) => inertNode(it, count, false)) };
    }
    case nodes.doctype:
      return { ...place, type, name: "html", publicId: "", systemId: "" };
    case nodes.element:
      return inertElement(node, count);
    case nodes.text: {
      const style = isStyle || node.isStyle === true;
      return {
        ...place,
        type,
        textContent: style ? inertCss(text, count) : text,
        ...(style && { isStyle: true }),
        ...(node.isShadow === true && { isShadow: true }),
      };
    }
    default:
      return { ...place, type: nodes.comment, textContent: "" };
  }
}

/** Any value with its strings as CSS: rules of style sheets, values of declarations. */
function inertRules(value: Json, count: Count): Json {
  if (typeof value === "string") return inertCss(value, count);
  if (Array.isArray(value)) return value.map((it) => inertRules(it, count));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, inertRules(it, count)]));
}

/** A changed attribute may also be an object: declarations of `style`. */
function inertChange(change: JsonObject, count: Count): JsonObject {
  const given = isObject(change.attributes) ? change.attributes : {};
  const { style, ...others } = given;
  const attributes = inertAttributes(others, "", count);
  if (style !== undefined) attributes.style = inertRules(style, count);
  return { ...change, attributes };
}

const inertMutation = (data: JsonObject, count: Count): JsonObject => ({
  ...data,
  texts: objectsIn(data.texts).map((it) => {
    const value = textOf(it.value);
    // it may be the text of a style element
    return { ...it, value: value.includes("{") ? inertCss(value, count) : value };
  }),
  attributes: objectsIn(data.attributes).map((it) => inertChange(it, count)),
  removes: objectsIn(data.removes),
  adds: objectsIn(data.adds).map((it) => ({ ...it, node: inertNode(it.node ?? null, count, false) })),
});

/** Style rules, declarations and adopted style sheets. */
const styleSources: ReadonlySet<Json | undefined> = new Set([8, 13, 15]);
/** Canvas, fonts, console and custom elements: they draw from or load what is not in the recording. */
const droppedSources: ReadonlySet<Json | undefined> = new Set([9, 10, 11, 16]);

function inertIncremental(data: JsonObject, count: Count): JsonObject | undefined {
  if (droppedSources.has(data.source)) return undefined;
  if (data.source === recordedSources.mutation) return inertMutation(data, count);
  if (!styleSources.has(data.source)) return data;
  const rules = inertRules(data, count);
  return isObject(rules) ? rules : undefined;
}

const largest = 10_000;
const sizeOf = (value: Json | undefined, usual: number): number =>
  typeof value === "number" && value >= 1 ? Math.min(largest, Math.round(value)) : usual;

/** The data of an event; undefined: the event is left out. */
function inertData({ type, data }: RecordedEvent, count: Count): JsonObject | undefined {
  switch (type) {
    case recordedTypes.full: {
      if (!isObject(data.node)) return undefined;
      const { top, left } = isObject(data.initialOffset) ? data.initialOffset : {};
      const initialOffset = { top: typeof top === "number" ? top : 0, left: typeof left === "number" ? left : 0 };
      return { node: inertNode(data.node, count, false), initialOffset };
    }
    case recordedTypes.incremental:
      return inertIncremental(data, count);
    case recordedTypes.meta:
      return { href: "", width: sizeOf(data.width, 1280), height: sizeOf(data.height, 720) };
    default:
      return undefined;
  }
}

/** The events as the player gets them: what would load, run, navigate or send is taken out. */
export function inertEvents(events: readonly RecordedEvent[]): InertEvents {
  const count: Count = { unloaded: 0 };
  const kept = events.flatMap((it): RecordedEvent[] => {
    const data = inertData(it, count);
    return data === undefined ? [] : [{ type: it.type, timestamp: it.timestamp, data }];
  });
  return { events: kept, unloaded: count.unloaded };
}
