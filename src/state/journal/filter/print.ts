import { isObject, type Json } from "../../../kernel/base/json.ts";
import type { Node } from "./parse.ts";
import { nameAt, scan, type Term, type Value } from "./scan.ts";

export const quoted = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/** True if the text without quotes is read as this one value. */
function isPlain(text: string): boolean {
  if (text.includes("*")) return false;
  const { tokens, problems } = scan(`x:${text}`);
  const [token] = tokens;
  if (token?.kind !== "term" || tokens.length > 1 || problems.length > 0) return false;
  const [value] = token.term.values;
  return token.term.values.length === 1 && value?.op === ":" && !value.isQuoted && value.text === text;
}

export const valueText = (text: string): string => (isPlain(text) ? text : quoted(text));

/** The path to a property as it is written: `prop.$current_url`, `prop."a.b"`. */
export function pathText(path: readonly string[]): string {
  const steps = path.map((step, i) => {
    const name = nameAt(`x.${step}`, 0);
    const isBare = i === 0 || (name?.path[1] === step && name.path.length === 2);
    return isBare ? step : quoted(step);
  });
  return steps.join(".");
}

const isTyped = (text: string): boolean => /^(?:null|true|false|[+-]?\.?\d.*)$/i.test(text);

/** A term for this value: `prop.plan:pro`; for lists and objects, that they exist. @param path A field, or `prop` and steps */
export function termText(path: readonly string[], value: Json): string {
  const name = pathText(path);
  if (isObject(value) || Array.isArray(value)) return `has:${name}`;
  if (typeof value !== "string") return `${name}:${value}`;
  return `${name}:${isTyped(value) ? quoted(value) : valueText(value)}`;
}

const shownOp = (op: Value["op"]): string => (op === ":" ? "" : op);

function printedTerm({ name, values }: Term): string {
  const shown = values.map((it) => shownOp(it.op) + (it.isQuoted ? quoted(it.text) : it.text));
  return `${pathText(name.path)}:${shown.join(",")}`;
}

const isList = (node: Node): boolean => node.kind === "all" || node.kind === "any";

const grouped = (node: Node): string => (isList(node) ? `(${printed(node)})` : printed(node));

export function printed(node: Node): string {
  switch (node.kind) {
    case "text":
      return node.isQuoted ? quoted(node.text) : node.text;
    case "term":
      return printedTerm(node.term);
    case "not":
      return `-${grouped(node.of)}`;
    case "all":
      return node.of.map(grouped).join(" ");
    case "any":
      return node.of.map((it) => (it.kind === "any" ? grouped(it) : printed(it))).join(" OR ");
  }
}
