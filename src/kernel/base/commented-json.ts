import type { Node } from "jsonc-parser";

export type JsonNode = Node;

/** A parsed text, or its first mistake: what follows that is, as a rule, its consequence. */
export type CommentedJson =
  | { readonly root: JsonNode; readonly mistake?: undefined }
  | { readonly root?: undefined; readonly mistake: { readonly offset: number; readonly text: string } };

const sentences: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not JSON; keys and strings must be in double quotes",
  InvalidNumberFormat: "expected a number such as 12, -1.5 or 2e3",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon after the key",
  CommaExpected: "expected a comma before this",
  CloseBraceExpected: "expected } at the end of the object",
  CloseBracketExpected: "expected ] at the end of the list",
  EndOfFileExpected: "expected the end of the file",
  UnexpectedEndOfComment: "expected */ at the end of the comment",
  UnexpectedEndOfString: 'expected " at the end of the string, in the same line',
  UnexpectedEndOfNumber: "expected more digits",
  InvalidUnicode: "expected four hexadecimal digits after \\u",
  InvalidEscapeCharacter: 'expected one of " \\ / b f n r t u after the backslash',
  InvalidCharacter: "expected \\n, \\t or \\u… instead of a control character",
};

/** Parses JSON with comments and trailing commas. @throws RangeError when it is nested too deep for the parser */
export async function parseCommentedJson(text: string): Promise<CommentedJson> {
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const errors: NonNullable<Parameters<typeof parseTree>[1]> = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (root && !error) return { root };
  if (text.trim() === "") return { mistake: { offset: 0, text: "the file is empty" } };
  const name = error ? printParseErrorCode(error.error) : "ValueExpected";
  return { mistake: { offset: error?.offset ?? 0, text: sentences[name] ?? `expected JSON (${name})` } };
}
