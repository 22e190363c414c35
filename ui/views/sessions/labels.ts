import { isObject, type Json, type JsonObject } from "../../../src/kernel/base/json.ts";
import { type RecordedEvent, recordedSources, recordedTypes } from "../../../src/lab/sessions/rrweb.ts";

/** What is known of an element of a recorded page. */
interface Labelled {
  readonly tag: string;
  readonly attributes: JsonObject;
  readonly parent: number | undefined;
  readonly children: number[];
  text: string;
}

/** Elements of one window, by rrweb's numbers, as the recording goes on. */
export interface ElementLabels {
  /** Takes what an event says about elements. */
  read(event: RecordedEvent): void;
  /** How a person would call the element; "" if nothing is known. */
  nameOf(id: Json | undefined): string;
}

/** The most elements that are kept of a page, and the most that one search visits. */
const most = { elements: 200_000, visited: 200 } as const;
const longest = 60;

const controls = /^(?:a|button|input|select|textarea|label|summary|option)$/;
const names = ["aria-label", "placeholder", "name", "title", "alt", "id", "value"] as const;

const textIn = (value: Json | undefined): string =>
  typeof value === "string" ? value.slice(0, 500).replace(/\s+/g, " ").trim().slice(0, longest) : "";

export function createLabels(): ElementLabels {
  const elements = new Map<number, Labelled>();
  /** Labels by their `for`. */
  const labels = new Map<string, number>();

  function add(node: Json | undefined, parent: number | undefined): void {
    if (!isObject(node) || typeof node.id !== "number" || elements.size >= most.elements) return;
    const { id, type, tagName, attributes, textContent, childNodes } = node;
    elements.set(id, {
      tag: typeof tagName === "string" ? tagName.toLowerCase() : "",
      attributes: isObject(attributes) ? attributes : {},
      parent,
      children: [],
      text: type === 3 ? textIn(textContent) : "",
    });
    if (parent !== undefined) elements.get(parent)?.children.push(id);
    if (tagName === "label" && isObject(attributes) && typeof attributes.for === "string")
      labels.set(attributes.for, id);
    if (Array.isArray(childNodes)) for (const child of childNodes) add(child, id);
  }

  function change(data: JsonObject): void {
    for (const it of Array.isArray(data.adds) ? data.adds : []) {
      if (isObject(it)) add(it.node, typeof it.parentId === "number" ? it.parentId : undefined);
    }
    for (const it of Array.isArray(data.texts) ? data.texts : []) {
      const known = isObject(it) && typeof it.id === "number" ? elements.get(it.id) : undefined;
      if (known && isObject(it)) known.text = textIn(it.value);
    }
  }

  /** The text below an element. */
  function textOf(id: number): string {
    const found: string[] = [];
    const open = [id];
    for (let visited = 0; open.length > 0 && visited < most.visited; visited++) {
      const it = elements.get(open.shift() ?? -1);
      if (!it || it.tag === "style" || it.tag === "script" || it.tag === "option") continue;
      if (it.text !== "") found.push(it.text);
      if (found.join(" ").length > longest) break;
      open.unshift(...it.children.slice(0, most.visited));
    }
    return found.join(" ").slice(0, longest);
  }

  /** The control around an element: what was hit is often a picture inside it. */
  function controlAt(id: number): number {
    let at: number | undefined = id;
    for (let steps = 0; at !== undefined && steps < 8; steps++) {
      const it = elements.get(at);
      if (!it) break;
      if (controls.test(it.tag) || it.attributes.role === "button" || it.attributes.role === "link") return at;
      at = it.parent;
    }
    return id;
  }

  /** The text of the label with `for`, or around the element. */
  function labelOf(id: number, { attributes, parent }: Labelled): string {
    const own = attributes.id;
    const label = typeof own === "string" ? labels.get(own) : undefined;
    if (label !== undefined) return textOf(label);
    const around = parent === undefined ? undefined : elements.get(parent);
    return around?.tag === "label" && parent !== undefined && parent !== id ? textOf(parent) : "";
  }

  function nameOf(id: Json | undefined): string {
    if (typeof id !== "number" || !elements.has(id)) return "";
    const at = controlAt(id);
    const it = elements.get(at);
    if (!it) return "";
    const isField = /^(?:input|select|textarea)$/.test(it.tag);
    const isButton = it.tag === "input" && /^(?:submit|button)$/.test(String(it.attributes.type));
    const label = isField ? labelOf(at, it) : textOf(at);
    if (label !== "") return label;
    if (isButton && textIn(it.attributes.value) !== "") return textIn(it.attributes.value);
    const named = names.find((name) => name !== "value" && textIn(it.attributes[name]) !== "");
    return named ? textIn(it.attributes[named]) : it.tag;
  }

  return {
    read({ type, data }) {
      if (type === recordedTypes.full) {
        elements.clear();
        labels.clear();
        add(data.node, undefined);
      } else if (type === recordedTypes.incremental && data.source === recordedSources.mutation) change(data);
    },
    nameOf,
  };
}
