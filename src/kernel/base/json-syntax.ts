interface SyntaxProblem {
  line: number;
  column: number;
  offset: number;
  expected: Expected | "end";
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Control characters may not stand in a string.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is the rule of JSON
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const word = /true|false|null/y;
const space = /[ \t\r\n]*/y;

/** What may come next: a value, a key, and so on; `OrEnd` right behind an opening bracket. */
type Expected = "value" | "valueOrEnd" | "keyOrEnd" | "key" | "colon" | "next";

/** Place of the first syntax error in a text, undefined if there is none; JSON.parse names the place in some cases only. */
export function syntaxErrorAt(text: string): SyntaxProblem | undefined {
  const open: string[] = [];
  let expected: Expected = "value";
  let at = skip(space, text, 0);
  while (at < text.length && !(open.length === 0 && expected === "next")) {
    const char = text.charAt(at);
    const end = endOf(text, at, expected, open.at(-1));
    if (end === -1) return problemAt(text, at, expected);
    if (char === "{" || char === "[") open.push(char);
    if (char === "}" || char === "]") open.pop();
    expected = following(char, expected, open.at(-1));
    at = skip(space, text, end);
  }
  const isWhole = expected === "next" && open.length === 0;
  if (isWhole && at === text.length) return undefined;
  return problemAt(text, at, isWhole ? "end" : expected);
}

/** Position behind the token at `at`, or -1 when nothing that is expected stands there. */
function endOf(text: string, at: number, expected: Expected, inside: string | undefined): number {
  const char = text.charAt(at);
  const closes = inside === "{" ? "}" : "]";
  switch (expected) {
    case "colon":
      return char === ":" ? at + 1 : -1;
    case "next":
      return char === "," || char === closes ? at + 1 : -1;
    case "key":
      return skip(string, text, at, -1);
    case "keyOrEnd":
      return char === "}" ? at + 1 : skip(string, text, at, -1);
    case "valueOrEnd":
      return char === "]" ? at + 1 : endOfValue(text, at);
    case "value":
      return endOfValue(text, at);
  }
}

function endOfValue(text: string, at: number): number {
  const char = text.charAt(at);
  if (char === "{" || char === "[") return at + 1;
  return skip(char === '"' ? string : /[a-z]/.test(char) ? word : number, text, at, -1);
}

/** What may follow the token that begins with `char`; `inside` is the bracket that is open now. */
function following(char: string, expected: Expected, inside: string | undefined): Expected {
  if (char === "{") return "keyOrEnd";
  if (char === "[") return "valueOrEnd";
  if (char === ",") return inside === "{" ? "key" : "value";
  if (char === ":" && expected === "colon") return "value";
  return (expected === "key" || expected === "keyOrEnd") && char === '"' ? "colon" : "next";
}

/** Position behind what the pattern matches at `at`; `otherwise` (default `at`) when it does not. */
function skip(pattern: RegExp, text: string, at: number, otherwise = at): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : otherwise;
}

function problemAt(text: string, at: number, expected: SyntaxProblem["expected"]): SyntaxProblem {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, offset: at, expected };
}
