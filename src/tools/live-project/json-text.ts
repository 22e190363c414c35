import { isObject, type Json } from "../../kernel/base/json.ts";

const maxWidth = 110;

/** JSON with short values on one line. */
export const jsonText = (value: Json): string => `${printed(value, "", 0)}\n`;

/** @param before Characters before the value in its line */
function printed(value: Json, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const short = onOneLine(value);
  if (indent.length + before + short.length < maxWidth) return short;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([key, it]) => {
    const start = isList ? "" : `${JSON.stringify(key)}: `;
    return `${deeper}${start}${printed(it, deeper, start.length)}`;
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function onOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, it]) => `${JSON.stringify(key)}: ${onOneLine(it)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}
