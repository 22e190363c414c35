import { caseOf, javascriptOf } from "./pattern/javascript.ts";
import { linearSearch, TooComplex } from "./pattern/linear.ts";
import { parsePattern } from "./pattern/parse.ts";
import { childrenOf, InvalidPattern, type PatternNode } from "./pattern/tree.ts";
import { FlagFailure } from "./reasons.ts";

type Search = (text: string) => boolean;

const some = (node: PatternNode, is: (node: PatternNode) => boolean): boolean =>
  is(node) || childrenOf(node).some((it) => some(it, is));

/** Can it take a part of a text in more than one way? */
const isVariable = (node: PatternNode): boolean =>
  node.kind === "choice" || (node.kind === "repeat" && node.least !== node.most);

/** A variable part that is repeated may be tried in exponentially many ways. */
const isNested = (node: PatternNode): boolean =>
  some(node, (it) => it.kind === "repeat" && it.most > 1 && some(it.node, isVariable));

const countVariable = (node: PatternNode): number =>
  childrenOf(node).reduce((sum, it) => sum + countVariable(it), isVariable(node) ? 1 : 0);

const looksAround = (node: PatternNode): boolean =>
  some(node, (it) => it.kind === "look" || it.kind === "backreference");

/** Ways that a backtracking search may try in the worst case; about 0.1 s. */
const mostWays = 10_000_000;

/** Is a backtracking search certain to end soon for every text of a length? */
function backtrackingLimit(node: PatternNode): (length: number) => boolean {
  if (isNested(node)) return () => false;
  const variable = countVariable(node);
  return (length) => (length + 1) ** (variable + 1) <= mostWays;
}

function javascriptSearch(node: PatternNode): RegExp | undefined {
  const ignoresCase = caseOf(node);
  if (ignoresCase === undefined) return undefined;
  return new RegExp(javascriptOf(node), ignoresCase ? "iv" : "v");
}

/** Look-around needs backtracking, which upstream bounds: what could take too long is refused. */
function backtracking(node: PatternNode): Search {
  const isQuick = backtrackingLimit(node);
  const expression = javascriptSearch(node);
  return (text) => {
    if (!expression || !isQuick(text.length)) throw new FlagFailure("unsupported_regex");
    return expression.test(text);
  };
}

/** JavaScript's search where it is certainly quick, else the one that is never slow. */
function plain(node: PatternNode): Search {
  const isQuick = backtrackingLimit(node);
  const expression = javascriptSearch(node);
  let linear: Search | undefined;
  return (text) => {
    if (expression && isQuick(text.length)) return expression.test(text);
    linear ??= linearSearch(node);
    return linear(text);
  };
}

/** A search that cannot be made here: too large, or nothing that JavaScript can say. */
const asFailure = (error: unknown): unknown =>
  error instanceof TooComplex || error instanceof SyntaxError ? new FlagFailure("unsupported_regex") : error;

/** Too large or too long to search here is not known, whatever upstream says. */
const visibly =
  (search: Search): Search =>
  (text) => {
    try {
      return search(text);
    } catch (error) {
      throw asFailure(error);
    }
  };

/**
 * The search for a pattern in the syntax of Rust's `fancy-regex`: anywhere in the text, with regard to
 * case; undefined when the pattern is invalid. No search takes longer than a fraction of a second.
 * @throws FlagFailure unsupported_regex, here or in the search, where upstream's answer is not known.
 */
export function patternOf(pattern: string): Search | undefined {
  try {
    const node = parsePattern(pattern);
    return visibly(looksAround(node) ? backtracking(node) : plain(node));
  } catch (error) {
    if (error instanceof InvalidPattern) return undefined;
    throw asFailure(error);
  }
}
