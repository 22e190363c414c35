import { refuse } from "../refusals.ts";

/**
 * Formulas over series, e.g. `(A + B) / 2`, with the precedence of Python; a division by zero is 0.
 * Upstream PostHog/posthog posthog/hogql_queries/utils/formula_ast.py.
 */

type Formula = (values: readonly number[]) => number;

const tokenPattern = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z])(?![a-z\d_(])|(\*\*|[-+*/%()]))/y;

const modulo = (a: number, b: number): number => a - Math.floor(a / b) * b;

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? 0 : a / b),
  "%": (a, b) => (b === 0 ? 0 : modulo(a, b)),
  "**": (a, b) => (a === 0 && b < 0 ? 0 : a ** b),
};

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const source = text.toLowerCase().trimEnd();
  for (let at = 0; at < source.length; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const found = tokenPattern.exec(source);
    if (!found) {
      throw refuse(`Formulas only support arithmetic ( + - * / % ** ) between series, got ${JSON.stringify(text)}`);
    }
    tokens.push(found[1] ?? found[2] ?? found[3] ?? "");
  }
  return tokens;
}

/** @throws SimError if it is no formula, or names a series that does not exist */
function readFormula(text: string, seriesCount: number): Formula {
  const tokens = tokensOf(text);
  let at = 0;

  function binary(signs: readonly string[], operand: () => Formula): Formula {
    let left = operand();
    for (let sign = tokens[at]; sign !== undefined && signs.includes(sign); sign = tokens[at]) {
      at++;
      const [a, b, operator] = [left, operand(), operators[sign]];
      left = (values) => operator?.(a(values), b(values)) ?? 0;
    }
    return left;
  }

  const sum = (): Formula => binary(["+", "-"], () => binary(["*", "/", "%"], unary));

  function unary(): Formula {
    const sign = tokens[at];
    if (sign !== "-" && sign !== "+") return power();
    at++;
    const operand = unary();
    return sign === "-" ? (values) => -operand(values) : operand;
  }

  /** Binds more tightly than a sign before it, less tightly than one after it. */
  function power(): Formula {
    const base = atom();
    if (tokens[at] !== "**") return base;
    at++;
    const exponent = unary();
    return (values) => operators["**"]?.(base(values), exponent(values)) ?? 0;
  }

  function atom(): Formula {
    const token = tokens[at++];
    if (token === "(") {
      const inside = sum();
      if (tokens[at++] !== ")") throw refuse(`The formula ${JSON.stringify(text)} has a bracket that is not closed.`);
      return inside;
    }
    if (token !== undefined && /^[a-z]$/.test(token)) return series(token);
    if (token === undefined || !/^[\d.]/.test(token)) throw refuse(`The formula ${JSON.stringify(text)} is invalid.`);
    const number = Number(token);
    return () => number;
  }

  function series(letter: string): Formula {
    const index = letter.charCodeAt(0) - 97;
    if (index < seriesCount) return (values) => values[index] ?? 0;
    const names = Array.from({ length: seriesCount }, (_, i) => String.fromCharCode(65 + i)).join(", ");
    throw refuse(
      `Formula references series ${letter.toUpperCase()}, but only ${seriesCount} ${seriesCount === 1 ? "series is" : "series are"} defined (${names})`,
    );
  }

  const formula = sum();
  if (at < tokens.length) throw refuse(`The formula ${JSON.stringify(text)} is invalid.`);
  return formula;
}

export function applyFormula(text: string, lists: readonly ArrayLike<number>[]): number[] {
  const formula = readFormula(text, lists.length);
  const length = Math.min(...lists.map((it) => it.length));
  return Array.from({ length }, (_, i) => formula(lists.map((it) => it[i] ?? 0)));
}
