import { isObject, parsedJson } from "../../base/json.ts";
import type { ExprNode, Place, QueryNode } from "./ast.ts";
import { Refusal, refused } from "./refusal.ts";
import { checkTree } from "./syntax.ts";

/** The service's own parser, compiled to WebAssembly. Its functions return JSON. */
interface Grammar {
  parseSelect(text: string): string;
  parseExpr(text: string): string;
}

export interface HogQLParser {
  /** Loads the grammar; nothing can be parsed before. */
  load(): Promise<void>;
  /** @throws SimError for syntax errors, and for syntax that is not supported */
  query(text: string): QueryNode;
  expression(text: string): ExprNode;
}

/** Characters of a query. The grammar's time grows with the length: this many take about a second. */
const mostCharacters = 50_000;

const ranOut = ({ name }: Error): boolean => name === "RangeError" || name === "RuntimeError";

/** Loads the grammar on demand, once: it costs 150 ms and 10 MB. */
export function createParser(): HogQLParser {
  let grammar: Grammar | undefined;
  let loading: Promise<Grammar> | undefined;

  async function loaded(): Promise<Grammar> {
    const { default: create } = await import("@posthog/hogql-parser");
    return create();
  }
  function parse(rule: "parseSelect" | "parseExpr", text: string): unknown {
    if (!grammar) throw new Error("the grammar of HogQL is not loaded");
    const characters = [...text];
    if (characters.length > mostCharacters)
      throw new Refusal(`A query has at most ${mostCharacters} characters, got ${characters.length}`);
    const tree = parsedJson(grammar[rule](text));
    if (!isObject(tree)) throw new Refusal("The query cannot be parsed");
    if (tree.error === true) {
      const at = { start: tree.start, end: tree.end } as unknown as { start: Place; end: Place };
      throw new Refusal(String(tree.message), at);
    }
    checkTree(tree, characters);
    return tree;
  }
  const parsed = (rule: "parseSelect" | "parseExpr", text: string): unknown => {
    try {
      return parse(rule, text);
    } catch (error) {
      if (error instanceof Refusal) throw refused(error, text);
      // The grammar recurses: very deep nesting exhausts its stack, after which it cannot be used.
      if (!(error instanceof Error && ranOut(error))) throw error;
      [grammar, loading] = [undefined, undefined];
      throw refused(new Refusal("The query is nested too deeply"), text);
    }
  };
  return {
    async load() {
      loading ??= loaded();
      grammar = await loading;
    },
    query: (text) => parsed("parseSelect", text) as QueryNode,
    expression: (text) => parsed("parseExpr", text) as ExprNode,
  };
}
