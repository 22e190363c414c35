import { Refusal } from "../refusal.ts";

/** `word` also for keywords; `name` for words in backticks or double quotes, whose text is decoded as that of strings. */
export interface HogQLToken {
  readonly kind: "word" | "name" | "number" | "string" | "sign" | "end";
  /** Words in lower case. */
  readonly text: string;
  /** As written, or decoded. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const blank =
  /(?:[ \t\r\n\v\f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|(?:--|\/\/)[^\r\n]*|\/\*.*?\*\/)+/sy;
const shapes: readonly (readonly [kind: HogQLToken["kind"], shape: RegExp])[] = [
  ["word", /[A-Za-z_$][A-Za-z0-9_$]*/y],
  ["number", /0[xX][0-9a-fA-F]+|0[bB][01]+|\d+(?:\.\d*)?[eE][+-]?\d+|\.\d+[eE][+-]?\d+|\d+/y],
  ["string", /'(?:[^\\']|\\.|'')*'/sy],
  ["name", /`(?:[^\\`]|\\.|``)*`|"(?:[^\\"]|\\.|"")*"/sy],
  ["sign", /!~\*|=~\*|\?\?|\?\.|->|::|:=|\|\||==|>=|<=|<>|!=|!~|=~|~\*|[*:,.=><[\](){}%+?~/;#-]/y],
];

const escapes: Readonly<Record<string, string>> = {
  ...{ b: "\b", f: "\f", r: "\r", n: "\n", t: "\t", "0": "\0", a: "\x07", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "`": "`" },
};

/** Text between the quotes. Upstream posthog/hogql/parse_string.py. */
function decoded(text: string, start: number): string {
  const quote = text.charAt(0);
  return text
    .slice(1, -1)
    .replace(/\\(.)|(['"`])\2/gsu, (whole, letter: string | undefined, _: unknown, at: number) => {
      if (letter === undefined) return quote;
      if (letter.toLowerCase() === "x") return whole;
      const meant = escapes[letter.toLowerCase()] ?? escapes[letter];
      if (meant === undefined)
        throw new Refusal(`Unsupported escape ${whole} in a string; write \\\\ for a backslash`, {
          start: start + 1 + at,
          end: start + 3 + at,
        });
      return meant;
    });
}

const mostCharacters = 100_000;

/** Tokens of a query; the last one has the kind `end`. @throws Refusal for a character that begins none */
export function tokensOf(text: string): HogQLToken[] {
  if (text.length > mostCharacters) throw new Refusal(`The query is longer than ${mostCharacters} characters`);
  const tokens: HogQLToken[] = [];
  let at = 0;
  const match = (shape: RegExp): string | undefined => {
    shape.lastIndex = at;
    return shape.exec(text)?.[0];
  };
  for (;;) {
    at += match(blank)?.length ?? 0;
    if (at >= text.length) break;
    const token = shapes.map(([kind, shape]) => ({ kind, value: match(shape) })).find((it) => it.value !== undefined);
    if (!token?.value) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      const message = /['"`]/.test(character) ? "Unterminated string" : `Unexpected character '${character}'`;
      throw new Refusal(message, { start: at, end: at + character.length });
    }
    const { kind, value } = token;
    const start = at;
    at += value.length;
    const isQuoted = kind === "string" || kind === "name";
    tokens.push({
      kind,
      text: kind === "word" ? value.toLowerCase() : value,
      value: isQuoted ? decoded(value, start) : value,
      start,
      end: at,
    });
  }
  tokens.push({ kind: "end", text: "", value: "", start: at, end: at });
  return tokens;
}
