import createVendorParser from "@posthog/hogql-parser";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { isObject, parsedJson } from "../../../../src/kernel/base/json.ts";

/** The tree without places and without members that say nothing. */
export function plainTree(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(plainTree);
  if (!isObject(tree)) return tree;
  const skipped = ["start", "end", "is_null_comparison_style", "nullish", "isFloat"];
  const said = ([key, value]: [string, Json]) =>
    !skipped.includes(key) && value !== false && (value !== null || key === "value");
  const { node, ...rest } = Object.fromEntries(Object.entries(tree).filter(said));
  const isUnnamed = node === "SelectSetNode" || node === "JoinConstraint" || node === undefined;
  return Object.fromEntries(
    Object.entries({ ...(!isUnnamed && { node }), ...rest })
      .map(([key, value]) => [key, plainTree(value)])
      .sort(([a], [b]) => String(a).localeCompare(String(b))),
  );
}

/** The service's own parser, as WebAssembly. Its time grows exponentially with the depth of nesting. */
export interface VendorParser {
  /** The tree of a query; undefined if it is refused. */
  query(text: string): unknown;
  expression(text: string): unknown;
}

export async function vendorParser(): Promise<VendorParser> {
  const { parseSelect, parseExpr } = await createVendorParser();
  const read = (json: string) => {
    const tree = parsedJson(json);
    return isObject(tree) && tree.error !== true ? tree : undefined;
  };
  return { query: (text) => read(parseSelect(text)), expression: (text) => read(parseExpr(text)) };
}
