import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";

const longest = { text: 400, href: 2048 } as const;

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : value === undefined || value === null ? undefined : String(value);

const escaped = (text: string): string => text.replaceAll('"', '\\"');

function classesOf(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" && value !== "" ? value.split(" ").filter((it) => it !== "") : [];
}

function attributesOf(element: JsonObject): [string, string][] {
  const { $el_text: text, attr__href: href, attr__id: id, nth_child, nth_of_type } = element;
  const own = Object.entries(element).filter(([name]) => name.startsWith("attr__"));
  const all: [string, Json | undefined][] = [
    ...(text ? [["text", textOf(text)?.slice(0, longest.text)] as [string, string]] : []),
    ["nth-child", nth_child || 0],
    ["nth-of-type", nth_of_type || 0],
    ...(href ? [["href", textOf(href)?.slice(0, longest.href)] as [string, string]] : []),
    ...(id ? [["attr_id", id] as [string, Json]] : []),
    ...own,
  ];
  const named = new Map(all.map(([name, value]) => [escaped(name), escaped(textOf(value) ?? "")]));
  return [...named].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
}

function elementText(element: JsonObject): string {
  const classes = classesOf(element.attr__class).sort();
  const names = classes.map((name) => `.${name.replaceAll('"', "")}`).join("");
  const attributes = attributesOf(element).map(([name, value]) => `${name}="${value}"`);
  return `${textOf(element.tag_name) ?? ""}${names}:${attributes.join("")}`;
}

/** `$elements` of older SDKs as the text that is kept; "" if they are none. Upstream utils/db/elements-chain.ts. */
export function chainOf(elements: Json): string {
  if (!Array.isArray(elements) || !elements.every(isObject)) return "";
  return elements.map(elementText).join(";");
}
