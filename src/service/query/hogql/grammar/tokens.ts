import type { Located } from "../ast.ts";
import { Refusal } from "../refusal.ts";
import { type HogQLToken, tokensOf } from "./lexer.ts";

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
  /** Takes the next token if it is this. */
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
  /** The text is read as a whole. */
  whole<T>(made: T): T {
    if (this.token().kind !== "end") throw this.unexpected("the end of the query");
    return made;
  }
}
