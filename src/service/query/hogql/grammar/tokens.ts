import type { Located } from "../ast.ts";
import { Refusal } from "../refusal.ts";

/** `word` also for keywords; `name` for words in backticks or double quotes, whose text is decoded as that of strings. */
interface HogQLToken {
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
function tokensOf(text: string): HogQLToken[] {
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

/** Deeper nesting would exhaust the stack. */
const deepest = 200;

export class TokenReader {
  readonly #tokens: readonly HogQLToken[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  token(ahead = 0): HogQLToken {
    const last = this.#tokens.length - 1;
    const token = this.#tokens[Math.max(0, Math.min(this.#at + ahead, last))];
    if (!token) throw new Error("a query without tokens");
    return token;
  }
  /** True if the next token is one of these words or signs. */
  is(...texts: readonly string[]): boolean {
    return this.isAt(0, ...texts);
  }
  isAt(ahead: number, ...texts: readonly string[]): boolean {
    const { kind, text } = this.token(ahead);
    return (kind === "word" || kind === "sign") && texts.includes(text);
  }
  take(): HogQLToken {
    const token = this.token();
    if (token.kind !== "end") this.#at += 1;
    return token;
  }
  skip(text: string): boolean {
    const found = this.is(text);
    if (found) this.#at += 1;
    return found;
  }
  expect(text: string): void {
    if (!this.skip(text)) throw this.unexpected(`'${text.toUpperCase()}'`);
  }
  unexpected(expected: string): Refusal {
    const { kind, start, end, value } = this.token();
    const got = kind === "end" ? "the end of the query" : `'${value}'`;
    return new Refusal(`Syntax error: unexpected ${got}, expected ${expected}`, { start, end });
  }
  unsupported(what: string, start = this.token().start): Refusal {
    return new Refusal(`${what} is not emulated`, { start, end: this.token().end });
  }
  /** End of the last token that was taken. */
  get end(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }
  at<const T extends object>(start: number, node: T): T & Located {
    return { ...node, start, end: this.end };
  }
  nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Refusal(`The query is nested deeper than ${deepest} levels`, this.token());
    const made = read();
    this.#depth -= 1;
    return made;
  }
  /** Takes tokens that are known. */
  drop(count: number): void {
    this.#at += count;
  }
  skipBoth(first: string, second: string): boolean {
    const found = this.is(first) && this.isAt(1, second);
    if (found) this.drop(2);
    return found;
  }
  isNamed(ahead: number): boolean {
    const { kind } = this.token(ahead);
    return kind === "word" || kind === "name";
  }
  name(): string {
    if (!this.isNamed(0)) throw this.unexpected("a name");
    return this.take().value;
  }
  /** Distance to the parenthesis that closes the one at a distance. */
  closing(ahead: number): number {
    let depth = 0;
    for (let at = ahead; this.token(at).kind !== "end"; at++) {
      if (this.isAt(at, "(")) depth += 1;
      if (this.isAt(at, ")") && --depth === 0) return at;
    }
    return ahead;
  }
  whole<T>(made: T): T {
    if (this.token().kind !== "end") throw this.unexpected("the end of the query");
    return made;
  }
}
