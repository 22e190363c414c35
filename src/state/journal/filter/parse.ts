import { type Scan, type Span, scan, type Term, type Token } from "./scan.ts";
import type { FilterProblem } from "./types.ts";

export type Node =
  | { readonly kind: "all" | "any"; readonly of: readonly Node[] }
  | { readonly kind: "not"; readonly of: Node }
  | { readonly kind: "text"; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: "term"; readonly term: Term };

const longestFilter = 2_000;
const deepest = 40;

const nothing: Node = { kind: "all", of: [] };

interface State {
  readonly tokens: readonly Token[];
  readonly problems: FilterProblem[];
  next: number;
  depth: number;
}

type Side = "before" | "after";

const needs = (what: string, side: Side): string => `there is nothing ${side} this ${what}`;

const joinerHint = (word: string): string => `write "${word}" in quotes to look for it`;

function complain(state: State, { at, length }: Span, message: string, hint?: string): void {
  state.problems.push({ at, length, message, ...(hint !== undefined && { hint }) });
}

const joined = (kind: "all" | "any", of: readonly Node[]): Node => {
  const [first] = of;
  return of.length === 1 && first ? first : { kind, of };
};

const isStart = (token: Token | undefined): boolean =>
  token !== undefined && token.kind !== "close" && token.kind !== "or" && token.kind !== "and";

function readAny(state: State): Node {
  const parts = [readAll(state)];
  for (let token = state.tokens[state.next]; token?.kind === "or"; token = state.tokens[state.next]) {
    checkSides(state, token, "OR");
    state.next++;
    parts.push(readAll(state));
  }
  return joined("any", parts);
}

/** Blanks and AND are the same. */
function readAll(state: State): Node {
  const parts: Node[] = [];
  for (;;) {
    const token = state.tokens[state.next];
    if (token?.kind === "and") {
      checkSides(state, token, "AND");
      state.next++;
    } else if (isStart(token)) parts.push(readOne(state));
    else return joined("all", parts);
  }
}

/** Reports a joiner without a term on each side. */
function checkSides(state: State, token: Token, word: string): void {
  const before = state.tokens[state.next - 1]?.kind;
  const hasBefore = before !== undefined && !["open", "or", "and", "not"].includes(before);
  if (!hasBefore) complain(state, token, needs(word, "before"), joinerHint(word));
  else if (!isStart(state.tokens[state.next + 1])) complain(state, token, needs(word, "after"), joinerHint(word));
}

function readOne(state: State): Node {
  const token = state.tokens[state.next++];
  if (token?.kind === "text") return { kind: "text", text: token.text, isQuoted: token.isQuoted };
  if (token?.kind === "term") {
    const term: Node = { kind: "term", term: token.term };
    return token.term.isNegated ? { kind: "not", of: term } : term;
  }
  return token ? inside(state, token) : nothing;
}

function inside(state: State, token: Token): Node {
  if (++state.depth > deepest) {
    complain(state, token, `this is more than ${deepest} parentheses and negations deep`);
    state.next = state.tokens.length;
    // open parentheses are not reported any more
    state.depth = Number.POSITIVE_INFINITY;
    return nothing;
  }
  const node = token.kind === "open" ? readGroup(state, token) : readNegation(state, token);
  state.depth--;
  return node;
}

function readGroup(state: State, open: Token): Node {
  const isEmpty = state.tokens[state.next]?.kind === "close";
  const node = readAny(state);
  const close = state.tokens[state.next];
  if (close?.kind !== "close") {
    if (state.depth <= deepest) complain(state, open, "this parenthesis is not closed");
    return node;
  }
  state.next++;
  if (isEmpty) complain(state, { at: open.at, length: close.at + 1 - open.at }, "there is nothing in here");
  return node;
}

/** A dash directly precedes the negated term; `a - b` is a mistake. */
function readNegation(state: State, token: Token): Node {
  const next = state.tokens[state.next];
  const isTouching = token.length > 1 || next?.at === token.at + 1;
  if (isStart(next) && isTouching) return { kind: "not", of: readOne(state) };
  const word = token.length === 1 ? "-" : "NOT";
  complain(state, token, needs(word, "after"), joinerHint(word));
  return nothing;
}

function readTokens({ tokens, problems }: Scan): { node: Node; problems: readonly FilterProblem[] } {
  const state: State = { tokens, problems: [...problems], next: 0, depth: 0 };
  let node = readAny(state);
  for (let token = tokens[state.next]; token; token = tokens[state.next]) {
    complain(state, token, "this parenthesis closes nothing", "put it in quotes to look for it");
    state.next++;
    node = joined("all", [node, readAny(state)]);
  }
  return { node, problems: state.problems };
}

/** Parses the text. With problems, the tree must not be used. */
export function parse(text: string): { node: Node; problems: readonly FilterProblem[] } {
  if (text.length <= longestFilter) return readTokens(scan(text));
  const message = `a filter has at most ${longestFilter.toLocaleString("en")} characters`;
  return { node: nothing, problems: [{ at: longestFilter, length: text.length - longestFilter, message }] };
}
