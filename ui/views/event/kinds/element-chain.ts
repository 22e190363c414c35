import { isObject, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { numberOf } from "../../../../src/state/journal/event-texts.ts";
import { textIn } from "./read-values.ts";

/** An element that was clicked on, or one around it. */
export interface PageElement {
  readonly tag: string;
  readonly id: string | undefined;
  readonly classes: readonly string[];
  readonly text: string | undefined;
  /** Further attributes as in the page: `data-testid`, `href`, `nth-child`. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

export interface ElementChain {
  /** The innermost first, as sent. */
  readonly elements: readonly PageElement[];
  /** True if there are more than are read. */
  readonly isCut: boolean;
  /** True if a part could not be read. */
  readonly isDamaged: boolean;
}

const [mostElements, mostAttributes, longestHead, longestChain] = [200, 200, 4_000, 200_000];

type Attributes = (readonly [name: string, value: string])[];

/** `attr__data-x` is an attribute of the page; `attr_id` is its id. */
const pageName = (name: string): string =>
  name === "attr_id" ? "id" : name.startsWith("attr__") ? name.slice("attr__".length) : name;

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((it) => it !== "");

function elementOf(tag: string, classes: readonly string[], given: Attributes): PageElement {
  const byName = new Map<string, string>();
  for (const [name, value] of given) byName.set(pageName(name), value);
  const taken = (name: string): string | undefined => {
    const value = byName.get(name);
    return value === "" ? undefined : value;
  };
  const attributes = [...byName].filter(([name]) => name !== "text" && name !== "id");
  // classes with a dot (`w-1.5`) are whole in the attribute only
  const whole = taken("class");
  return {
    tag,
    id: taken("id"),
    classes: whole === undefined ? classes : wordsOf(whole),
    text: taken("text"),
    attributes,
  };
}

/** Where the attributes begin, after a colon: classes may have colons, too (`md:flex`). */
const firstAttribute = /:(?=(?:attr__[^"=]*|[\w-]+)$)/;

interface Read<T> {
  readonly value: T;
  readonly end: number;
  readonly isDamaged: boolean;
}

/** A text in quotes from its first character; `\"` is a quote in it, and a backslash is nothing else. */
function readQuoted(text: string, from: number): Read<string> {
  let end = text.indexOf('"', from);
  // a last backslash is none of an escape: nothing closes the text after it
  while (end !== -1 && text[end - 1] === "\\" && end > from && text.indexOf('"', end + 1) !== -1)
    end = text.indexOf('"', end + 1);
  const isDamaged = end === -1;
  const last = isDamaged ? text.length : end;
  return { value: text.slice(from, last).replaceAll('\\"', '"'), end: last + 1, isDamaged };
}

/** `name="value"` until the semicolon of the next element. */
function readAttributes(text: string, from: number): Read<Attributes> {
  const found: Attributes = [];
  let at = from;
  let isDamaged = false;
  while (at < text.length && text[at] !== ";") {
    const opening = text.indexOf('="', at);
    if (opening === -1) return { value: found, end: text.length, isDamaged: true };
    const read = readQuoted(text, opening + 2);
    if (found.length < mostAttributes) found.push([text.slice(at, opening), read.value]);
    at = read.end;
    isDamaged ||= read.isDamaged;
  }
  return { value: found, end: at + 1, isDamaged };
}

/** `button.primary:text="Pay"`. */
function readElement(text: string, from: number): Read<PageElement> {
  const [closing, opening] = [text.indexOf(";", from), text.indexOf('="', from)];
  const isBare = opening === -1 || (closing !== -1 && closing < opening);
  const end = isBare ? (closing === -1 ? text.length : closing) : opening;
  const head = text.slice(from, end);
  const isLong = head.length > longestHead;
  const colon = isBare || isLong ? -1 : head.search(firstAttribute);
  const [tag = "", ...classes] = (colon === -1 ? head.slice(0, longestHead) : head.slice(0, colon))
    .replace(/:$/, "")
    .split(".");
  const attributes = isBare
    ? { value: [], end: end + 1, isDamaged: false }
    : readAttributes(text, colon === -1 ? opening : from + colon + 1);
  return {
    value: elementOf(
      tag,
      classes.filter((it) => it !== ""),
      attributes.value,
    ),
    end: attributes.end,
    isDamaged: attributes.isDamaged || isLong || (!isBare && colon === -1),
  };
}

/** The elements of `$elements_chain`, in the form in which SDKs write it. */
export function readChain(whole: string): ElementChain {
  const text = whole.slice(0, longestChain);
  const elements: PageElement[] = [];
  let [at, isDamaged] = [0, false];
  while (at < text.length && elements.length < mostElements) {
    const read = readElement(text, at);
    elements.push(read.value);
    at = read.end;
    isDamaged ||= read.isDamaged;
  }
  const isCut = at < text.length || text.length < whole.length;
  return { elements, isCut, isDamaged: isDamaged && text.length === whole.length };
}

const wordOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;

/** Names in `$elements` that differ from those of the page. */
const listNames: Readonly<Record<string, string>> = {
  $el_text: "text",
  nth_child: "nth-child",
  nth_of_type: "nth-of-type",
};

const notAttributes: ReadonlySet<string> = new Set(["tag_name", "classes", "attr_class", "attributes"]);

function listed(item: JsonObject): PageElement {
  const more = own(item, "attributes");
  const entries = [...Object.entries(item), ...(isObject(more) ? Object.entries(more) : [])];
  const attributes = entries.slice(0, mostAttributes).flatMap(([name, value]): Attributes => {
    const word = wordOf(value);
    if (word === undefined || notAttributes.has(name)) return [];
    return [[(Object.hasOwn(listNames, name) ? listNames[name] : undefined) ?? name, word]];
  });
  const given = own(item, "classes") ?? own(item, "attr_class");
  const classes = Array.isArray(given) ? given.flatMap((it) => wordOf(it) ?? []) : wordsOf(wordOf(given) ?? "");
  return elementOf(wordOf(own(item, "tag_name")) ?? "", classes, attributes);
}

/** The elements of an event: from the text of today's SDKs, or the list of older ones. */
export function elementsIn(properties: JsonObject): ElementChain {
  const chain = textIn(properties, "$elements_chain");
  if (chain !== undefined) return readChain(chain);
  const list = own(properties, "$elements");
  if (!Array.isArray(list)) return { elements: [], isCut: false, isDamaged: list !== undefined };
  const elements = list.slice(0, mostElements).flatMap((it) => (isObject(it) ? [listed(it)] : []));
  const isDamaged = list.slice(0, mostElements).some((it) => !isObject(it));
  return { elements, isCut: list.length > mostElements, isDamaged };
}

export const attributeOf = ({ attributes }: PageElement, name: string): string | undefined =>
  attributes.find(([it]) => it === name)?.[1];

const byTag: Readonly<Record<string, string>> = {
  a: "link",
  button: "button",
  form: "form",
  img: "image",
  input: "field",
  label: "label",
  li: "list item",
  option: "option",
  select: "menu",
  summary: "summary",
  textarea: "text field",
};

const byInputType: Readonly<Record<string, string>> = {
  button: "button",
  checkbox: "checkbox",
  image: "button",
  radio: "choice",
  range: "slider",
  reset: "button",
  submit: "button",
};

const rowOf = (rows: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(rows, key) ? rows[key] : undefined;

/** What the element is: button, link, field. */
export function nounOf(element: PageElement): string {
  const tag = element.tag.toLowerCase();
  const role = attributeOf(element, "role");
  if (role === "button" || role === "link") return role;
  const type = tag === "input" ? rowOf(byInputType, attributeOf(element, "type") ?? "") : undefined;
  return type ?? rowOf(byTag, tag) ?? (tag === "" ? "element" : `${element.tag} element`);
}

const speaking = ["aria-label", "alt", "title", "placeholder", "name"];

/** What can be read on the element, or what names it. */
export const captionOf = (element: PageElement): string | undefined =>
  [element.text, ...speaking.map((it) => attributeOf(element, it))].find((it) => it !== undefined && it.trim() !== "");

const actions: Readonly<Record<string, string>> = {
  click: "Click on",
  change: "Change of",
  submit: "Submission of",
  touch: "Touch of",
};

const actionsByName: Readonly<Record<string, string>> = {
  $rageclick: "Repeated clicks on",
  $dead_click: "Click without effect on",
  $copy_autocapture: "Copy from",
};

/** `Click on`: what was done. */
export function actionOf(name: string, properties: JsonObject): string {
  const type = textIn(properties, "$event_type") ?? "click";
  return rowOf(actionsByName, name) ?? rowOf(actions, type) ?? `${type} on`;
}

/** A name in a selector. */
const identifier = (text: string): string =>
  text
    .replace(/[^\w\-\u0080-\uffff]/g, (it) =>
      it.charCodeAt(0) < 32 ? `\\${it.charCodeAt(0).toString(16)} ` : `\\${it}`,
    )
    .replace(/^(-?)(\d)/, (_, dash: string, digit: string) => `${dash}\\3${digit} `)
    .replace(/^-$/, "\\-");

const quoted = (text: string): string =>
  `"${text.replace(/["\\]/g, "\\$&").replace(/[\n\r\f\0]/g, (it) => `\\${it.charCodeAt(0).toString(16)} `)}"`;

/** Attributes that apps set to find elements by, the best first. */
const marks = ["data-testid", "data-test", "data-test-id", "data-cy", "data-attr", "name", "aria-label"];

const tagOf = ({ tag }: PageElement): string => (/^[a-z][\w-]*$/i.test(tag) ? tag : "*");

function markOf(element: PageElement): string {
  const mark = marks.find((it) => (attributeOf(element, it) ?? "") !== "");
  return mark === undefined ? "" : `[${mark}=${quoted(attributeOf(element, mark) ?? "")}]`;
}

const idPart = ({ id }: PageElement): string => (id === undefined ? "" : `#${identifier(id)}`);

function ownPart(element: PageElement): string {
  const classes = element.classes.slice(0, 2).map((it) => `.${identifier(it)}`);
  const part = idPart(element) || `${classes.join("")}${markOf(element)}`;
  const place = numberOf(attributeOf(element, "nth-of-type"));
  const isNth = part === "" && place !== undefined && place > 0;
  return tagOf(element) + part + (isNth ? `:nth-of-type(${Math.round(place)})` : "");
}

/** A CSS selector of an element: what names it, below the nearest element around it that has an id or a mark. */
export function selectorOf({ elements }: Pick<ElementChain, "elements">, index: number): string {
  const element = elements[index];
  if (element === undefined) return "";
  if (element.id !== undefined) return ownPart(element);
  const around = elements.slice(index + 1).find((it) => idPart(it) !== "" || markOf(it) !== "");
  const above = around === undefined ? "" : `${tagOf(around)}${idPart(around) || markOf(around)} `;
  return above + ownPart(element);
}
