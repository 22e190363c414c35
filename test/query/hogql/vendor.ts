import createVendorParser from "@posthog/hogql-parser";
import type { Json } from "../../../src/base/json.ts";
import { isObject, parsedJson } from "../../../src/base/json.ts";

/** The tree without places and without members that say nothing. */
export function plainTree(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(plainTree);
  if (!isObject(tree)) return tree;
  const skipped = ["start", "end", "is_null_comparison_style", "nullish", "isFloat"];
  const said = ([key, value]: [string, Json]) =>
    !skipped.includes(key) && value !== false && (value !== null || key === "value");
  // A name in a list of ORDER BY and the like has no kind in the vendor's tree.
  const { SelectSetNode: _, ...rest } = Object.fromEntries(Object.entries(tree).filter(said));
  if (rest.node === "SelectSetNode" || rest.node === "JoinConstraint") delete rest.node;
  return Object.fromEntries(
    Object.entries(rest)
      .map(([key, value]) => [key, plainTree(value)])
      .sort(([a], [b]) => String(a).localeCompare(String(b))),
  );
}

/** The vendor's parser: `undefined` for what it refuses. Its time grows exponentially with nesting. */
export async function vendorParser() {
  const { parseSelect, parseExpr } = await createVendorParser();
  const read = (json: string) => {
    const tree = parsedJson(json);
    return isObject(tree) && tree.error !== true ? tree : undefined;
  };
  return {
    query: (text: string) => read(parseSelect(text)),
    expression: (text: string) => read(parseExpr(text)),
  };
}
