import type { Node } from "jsonc-parser";
import { type Growth, grow, type Read } from "./growth.ts";
import type { Entry, Source, Tree } from "./tree.ts";

/** What the parser's complaints mean. */
const sentences: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not JSON; keys and texts stand in double quotes",
  InvalidNumberFormat: "expected a number such as 12, -1.5 or 2e3",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon after the key",
  CommaExpected: "expected a comma before this",
  CloseBraceExpected: "expected } at the end of the object",
  CloseBracketExpected: "expected ] at the end of the list",
  EndOfFileExpected: "expected nothing after the end of the scenario",
  UnexpectedEndOfComment: "expected */ at the end of the comment",
  UnexpectedEndOfString: 'expected " at the end of the text, in the same line',
  UnexpectedEndOfNumber: "expected more digits",
  InvalidUnicode: "expected four hexadecimal digits after \\u",
  InvalidEscapeCharacter: 'expected one of " \\ / b f n r t u after the backslash',
  InvalidCharacter: "expected \\n, \\t or \\u… in place of a control character",
};

/** Reads JSON with comments and trailing commas. */
export async function readJson(source: Source): Promise<Read> {
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const errors: Parameters<typeof parseTree>[1] = [];
  return grow(source, (growth) => {
    const root = parseTree(source.text, errors, { allowTrailingComma: true, allowEmptyContent: true });
    // What follows the first error is, as a rule, its consequence.
    const [error] = errors;
    if (error) {
      const name = printParseErrorCode(error.error);
      growth.complain(error.offset, [], sentences[name] ?? `expected JSON (${name})`);
      return undefined;
    }
    return root ? build(growth, root, []) : growth.plain(0, null);
  });
}

function build(growth: Growth, node: Node, at: readonly string[]): Tree {
  growth.enter(node.offset, at);
  const place = { source: growth.source, offset: node.offset };
  const children = node.children ?? [];
  if (node.type === "array") {
    return { kind: "list", place, items: children.map((it, i) => build(growth, it, [...at, String(i)])) };
  }
  if (node.type !== "object") return growth.plain(node.offset, node.value, at);
  const entries = new Map<string, Entry>();
  for (const { children: [key, value] = [] } of children) {
    if (key && value) add(growth, entries, key, value, at);
  }
  return { kind: "object", place, entries };
}

function add(growth: Growth, entries: Map<string, Entry>, key: Node, value: Node, at: readonly string[]) {
  const path = [...at, String(key.value)];
  const entry = { key: { source: growth.source, offset: key.offset }, tree: build(growth, value, path) };
  growth.add(entries, String(key.value), entry, path);
}
