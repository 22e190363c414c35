/**
 * The queries that choose what an export of events holds: `SELECT … FROM events [WHERE …]`. This reads their
 * outline: what is between the clauses is only checked for what cannot be an expression.
 * Upstream PostHog/posthog posthog/batch_exports/http.py; the texts are the service's.
 */

interface Token {
  kind: "word" | "name" | "value" | "sign";
  text: string;
  /** Number of brackets around it; a bracket is outside of itself. */
  depth: number;
  start: number;
  end: number;
  /** Index of the bracket that closes this one. */
  partner?: number;
}

/** A column: what it is, and under which name. */
type Field = { expression: string; alias: string };

type ExportSchema = { fields: Field[]; values: Record<string, string>; hogql_query: string };

/** A query as an export keeps it, or why it cannot be one. */
type ReadQuery = { schema: ExportSchema; problem?: undefined } | { problem: string };

const unreadable = "Failed to parse query";

const kinds = ["value", "name", "word", "sign"] as const;

const tokenPattern =
  /(?<blank>\s+|--[^\n]*|\/\*[\s\S]*?\*\/)|(?<value>'(?:[^'\\]|\\[\s\S]|'')*'|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)|(?<name>`(?:[^`\\]|\\.|``)+`|"(?:[^"\\]|\\.|"")+")|(?<word>[A-Za-z_$][\w$]*)|(?<sign>->|<=>|<=|>=|<>|!=|==|=~\*?|!~\*?|\|\||::|\?\?|\?\.|[-+*/%=<>(),.[\]{}?:;])/y;

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
const isClosing = (text: string): boolean => Object.values(closing).includes(text);

/** The tokens of a query; undefined when something is none, or brackets do not match. */
function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  const open: Token[] = [];
  let at = 0;
  while (at < text.length) {
    tokenPattern.lastIndex = at;
    const found = tokenPattern.exec(text);
    if (!found) return undefined;
    const [it] = found;
    const start = at;
    at += it.length;
    if (found.groups?.blank !== undefined) continue;
    const kind = kinds.find((name) => found.groups?.[name] !== undefined) ?? "sign";
    const opener = kind === "sign" && isClosing(it) ? open.pop() : undefined;
    if (opener) opener.partner = tokens.length;
    if (kind === "sign" && isClosing(it) && closing[opener?.text ?? ""] !== it) return undefined;
    const token: Token = { kind, text: it, depth: open.length, start, end: at };
    tokens.push(token);
    if (kind === "sign" && closing[it] !== undefined) open.push(token);
  }
  return open.length === 0 ? tokens : undefined;
}

const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token?.kind === "word" && words.includes(token.text.toUpperCase());

const isSign = (token: Token | undefined, ...signs: string[]): boolean =>
  token?.kind === "sign" && signs.includes(token.text);

/** Words of expressions that are no names or functions. */
const reserved = [
  "ALL AND AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END EXCEPT FROM GROUP HAVING ILIKE IN INTERVAL IS LIKE LIMIT",
  "NOT OFFSET OR ORDER PREWHERE SELECT THEN UNION USING WHEN WHERE WITH",
  "SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR OVER PARTITION ROWS FINAL SAMPLE INTERSECT JOIN ON",
].flatMap((line) => line.split(" "));

const isName = (token: Token | undefined): boolean =>
  token?.kind === "name" || (token?.kind === "word" && !reserved.includes(token.text.toUpperCase()));

const endsOperand = (token: Token | undefined): boolean =>
  token?.kind === "value" || isName(token) || (token?.kind === "sign" && isClosing(token.text));

const startsOperand = (token: Token): boolean => token.kind === "value" || isName(token);

const infix = ["+", "/", "%", "=", "==", "!=", "<>", "<", ">", "<=", ">=", "||", "::", ",", "->", "??"];

/** True if this cannot be an expression: it is empty, an operator lacks its operand, or two operands follow each other. */
const isBroken = (tokens: readonly Token[]): boolean =>
  tokens.length === 0 ||
  isSign(tokens[0], ...infix) ||
  isSign(tokens.at(-1), ...infix, "-", ".") ||
  isWord(tokens.at(-1), "AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "BETWEEN", "AS") ||
  tokens.some((token, i) => startsOperand(token) && endsOperand(tokens[i - 1]) && !isTyped(tokens[i - 1], token));

/** `DATE '2025-03-01'` */
const isTyped = (type: Token | undefined, token: Token): boolean =>
  isWord(type, "DATE", "TIMESTAMP") && token.kind === "value";

/** Index of the first token at this depth that is one of the words; -1 when none is. */
const indexOfWord = (tokens: readonly Token[], from: number, depth: number, ...words: string[]): number =>
  tokens.findIndex((token, i) => i >= from && token.depth === depth && isWord(token, ...words));

/** Cuts a list at the commas outside of brackets. */
function splitAtCommas(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.depth === 0 && isSign(token, ",")) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

const nameOf = ({ kind, text }: Token): string =>
  kind === "name" ? text.slice(1, -1).replace(/\\(.)|``|""/g, (it, escaped) => escaped ?? it[0]) : text;

/** The written text of a run of tokens. */
const textOf = (query: string, tokens: readonly Token[]): string =>
  query.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0).replace(/\s+/g, " ");

/** `expression`, `expression AS alias` or `expression alias`; undefined when it is none of them. */
function fieldOf(query: string, tokens: readonly Token[]): Field | undefined {
  const last = tokens.at(-1);
  const hasAs = isWord(tokens.at(-2), "AS");
  const isAliased =
    hasAs && last?.kind !== "value" && last?.kind !== "sign" ? true : isName(last) && endsOperand(tokens.at(-2));
  const expression = isAliased ? tokens.slice(0, hasAs ? -2 : -1) : tokens;
  if (isBroken(expression) || expression.some((it) => it.depth === 0 && isWord(it, "AS"))) return undefined;
  const text = textOf(query, expression);
  return { expression: text, alias: isAliased && last ? nameOf(last) : text };
}

const clauses = ["PREWHERE", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "SETTINGS"];
const setWords = ["UNION", "INTERSECT", "EXCEPT"];
const joinWords = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "GLOBAL", "ANY", "ASOF", "ARRAY"];

const noSubqueries = "Subqueries or CTEs are not supported";

/** The service's message about the table and what follows it, up to the next clause. */
function refusedSource(tokens: readonly Token[], hasCtes: boolean): string | undefined {
  const [table, ...rest] = tokens;
  if (isSign(table, "(") && (isWord(rest[0], "SELECT", "WITH") || isSign(rest[0], "("))) return noSubqueries;
  if (!table || !isName(table)) return unreadable;
  const isEvents = nameOf(table) === "events" && !isSign(rest[0], ".", "(");
  if (!isEvents) return hasCtes ? noSubqueries : "Query must only SELECT FROM events";
  if (rest.some((it) => it.depth === 0 && (isWord(it, ...joinWords) || isSign(it, ",")))) {
    return "JOINs are not supported";
  }
  const afterAlias = isWord(rest[0], "AS") ? 2 : isName(rest[0]) ? 1 : 0;
  const isReadable = afterAlias === rest.length || isWord(rest[afterAlias], "FINAL", "SAMPLE");
  return isReadable ? undefined : unreadable;
}

/** True if the clauses after the table are readable, as far as this checks. */
function areReadable(tokens: readonly Token[]): boolean {
  const starts = tokens.flatMap((token, i) => (token.depth === 0 && isWord(token, ...clauses) ? [i] : []));
  return starts.every((start, i) => {
    const isTwoWords = isWord(tokens[start], "GROUP", "ORDER");
    if (isTwoWords && !isWord(tokens[start + 1], "BY")) return false;
    const parts = splitAtCommas(tokens.slice(start + (isTwoWords ? 2 : 1), starts[i + 1]));
    return parts.every((part) => !isBroken(part));
  });
}

/** The tokens of the query itself: brackets around all of it and one semicolon at its end do not count. */
function trimmed(tokens: readonly Token[]): Token[] {
  let start = 0;
  let end = isSign(tokens.at(-1), ";") ? tokens.length - 1 : tokens.length;
  while (isSign(tokens[start], "(") && tokens[start]?.partner === end - 1) {
    start++;
    end--;
  }
  return tokens.slice(start, end).map((it) => ({ ...it, depth: it.depth - start }));
}

/** Reads a query. @param query as it was sent */
export function readHogqlQuery(query: string): ReadQuery {
  const tokens = tokensOf(query);
  const body = tokens && trimmed(tokens);
  if (!body || body.some((it) => isSign(it, ";"))) return { problem: unreadable };
  const select = indexOfWord(body, 0, 0, "SELECT");
  const opens = body[0];
  if (select === -1 && !isSign(opens, "(")) return { problem: unreadable };
  if (indexOfWord(body, 0, 0, ...setWords) > 0) return { problem: "UNIONs are not supported" };
  if (select !== 0 && !isWord(opens, "WITH")) return { problem: unreadable };
  return readSelect(query, body.slice(select + 1), select > 0);
}

/** What follows the word SELECT. */
function readSelect(query: string, tokens: readonly Token[], hasCtes: boolean): ReadQuery {
  const from = indexOfWord(tokens, 0, 0, "FROM");
  const firstClause = indexOfWord(tokens, Math.max(from, 0), 0, ...clauses);
  const end = firstClause === -1 ? tokens.length : firstClause;
  const columns = tokens.slice(isWord(tokens[0], "DISTINCT") ? 1 : 0, from === -1 ? end : from);
  const fields = splitAtCommas(columns).map((it) => fieldOf(query, it));
  if (!fields.every((it) => it !== undefined) || !areReadable(tokens.slice(end))) return { problem: unreadable };
  if (from === -1) return { problem: "Query must SELECT FROM events" };
  const problem = refusedSource(tokens.slice(from + 1, end), hasCtes);
  if (problem !== undefined) return { problem };
  return { schema: { fields, values: {}, hogql_query: query.trim() } };
}
