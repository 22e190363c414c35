import { own } from "../../../../kernel/base/json.ts";
import {
  type CallNode,
  type ExprNode,
  type FrameNode,
  isQuery,
  type OrderNode,
  type QueryNode,
  type WindowFunctionNode,
  type WindowNode,
} from "../ast.ts";
import { Refusal } from "../refusal.ts";
import { capital, units } from "../types.ts";
import { TokenReader } from "./tokens.ts";

/** Binding powers: what is higher is evaluated first. */
export const power = {
  ...{ alias: 0, ternary: 1, or: 2, and: 3, not: 4, between: 5, nullish: 6, isNull: 7, compare: 8 },
  ...{ sum: 9, product: 10, sign: 11 },
};

const comparisons: Readonly<Record<string, string>> = {
  ...{ "=": "==", "==": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=" },
  ...{ "~": "=~", "=~": "=~", "!~": "!~", "~*": "=~*", "=~*": "=~*", "!~*": "!~*" },
  ...{ in: "in", like: "like", ilike: "ilike" },
};

const infixPowers: Readonly<Record<string, number>> = {
  ...{ as: power.alias, "?": power.ternary, or: power.or, and: power.and, between: power.between },
  ...{ "??": power.nullish, is: power.isNull, "||": power.sum, "+": power.sum, "-": power.sum },
  ...{ "*": power.product, "/": power.product, "%": power.product },
};
const infixPower = (word: string): number | undefined =>
  own(infixPowers, word) ?? (Object.hasOwn(comparisons, word) ? power.compare : undefined);

/** Words that end an expression: they are no columns unless they are in quotes. */
export const reserved: readonly string[] = [
  ...["select", "from", "prewhere", "where", "group", "having", "window", "qualify", "order", "limit", "offset"],
  ...["settings", "union", "intersect", "except", "and", "or", "is", "in", "like", "ilike", "between", "as"],
  ...["when", "then", "else", "end", "on", "using", "join", "asc", "desc"],
];
export const setOperators = ["union", "intersect", "except"];

/** Reads expressions. Upstream posthog/hogql/grammar/HogQLParser.g4. */
export abstract class ExpressionReader extends TokenReader {
  abstract querySet(): QueryNode;
  abstract withSets(first: QueryNode, start: number): QueryNode;
  abstract orders(): OrderNode[];

  /** Number of opening parentheses before a query; 0 if what follows is none. */
  isQuery(): boolean {
    let ahead = 0;
    while (this.isAt(ahead, "(")) ahead += 1;
    if (this.isAt(ahead, "select")) return !this.isAt(ahead + 1, ".", ",", ")");
    return this.isAt(ahead, "with") && !this.isAt(ahead + 1, ".", ",", ")", "(");
  }

  /** Items between commas; a comma may follow the last. */
  list<T>(read: () => T): T[] {
    const items = [read()];
    while (this.skip(",")) {
      if (this.endsList()) break;
      items.push(read());
    }
    return items;
  }

  endsList(): boolean {
    const { kind } = this.token();
    return kind === "end" || this.is(")", "]", "}", ";", ...reserved.slice(0, 14));
  }

  expression(): ExprNode {
    return this.binary(power.alias);
  }

  /** An expression whose operators bind at least this strongly. */
  binary(least: number): ExprNode {
    return this.nested(() => {
      const { start } = this.token();
      let left = this.prefix();
      for (;;) {
        const isNamed = this.is("as");
        const next = this.infix(left, least, start);
        if (!next) return left;
        left = next;
        // A name ends an expression, but for another name.
        if (isNamed && !this.is("as")) return left;
      }
    });
  }

  prefix(): ExprNode {
    const { start } = this.token();
    if (this.is("not") && !this.isAt(1, "(") && this.startsExpression(1)) {
      this.take();
      return { node: "Not", expr: this.binary(power.not), start, end: this.end };
    }
    if (this.is("-") && this.isNumber(1)) return this.postfix(this.number(), start);
    if (this.is("-")) {
      this.take();
      const right = this.binary(power.sign);
      return this.at(start, { node: "ArithmeticOperation", op: "-", left: { node: "Constant", value: 0 }, right });
    }
    return this.postfix(this.primary(), start);
  }

  /** True if a token can be the first of an expression. */
  startsExpression(ahead: number): boolean {
    const { kind, text } = this.token(ahead);
    if (kind === "sign") return ["(", "[", "{", "-", "*", "."].includes(text);
    return kind !== "end" && !(kind === "word" && reserved.includes(text));
  }

  infix(left: ExprNode, least: number, start: number): ExprNode | undefined {
    const { text, kind } = this.token();
    if (kind !== "sign" && kind !== "word") return undefined;
    const isNegated = text === "not" && this.isAt(1, "in", "like", "ilike", "between");
    const word = isNegated ? this.token(1).text : text;
    const of = infixPower(word);
    if (of === undefined || of < least) return undefined;
    this.drop(isNegated ? 2 : 1);
    const right = (): ExprNode => this.binary(of + 1);
    const call = (name: string, args: ExprNode[]) => this.at(start, { node: "Call", name, args });
    const comparison = own(comparisons, word);
    if (comparison !== undefined) {
      if (word === "in" && this.is("cohort") && this.startsExpression(1)) throw this.unsupported("IN COHORT");
      const op = isNegated ? `not ${comparison}` : comparison;
      return this.at(start, { node: "CompareOperation", op, left, right: right() });
    }
    switch (word) {
      case "||":
        return call(
          "concat",
          [left, right()].flatMap((it) => (isConcat(it) ? it.args : [it])),
        );
      case "??":
        return call("ifNull", [left, right()]);
      case "is": {
        const op = this.skip("not") ? "!=" : "==";
        if (this.is("distinct")) throw this.unsupported("IS DISTINCT FROM");
        this.expect("null");
        return this.at(start, { node: "CompareOperation", op, left, right: { node: "Constant", value: null } });
      }
      case "between": {
        const low = this.binary(of);
        this.expect("and");
        return this.at(start, { node: "BetweenExpr", expr: left, low, high: right(), negated: isNegated });
      }
      case "and":
      case "or": {
        const node = word === "and" ? "And" : "Or";
        const exprs = [left, right()].flatMap((it) => (it.node === node ? it.exprs : [it]));
        return this.at(start, { node, exprs });
      }
      case "?": {
        const then = this.expression();
        this.expect(":");
        return call("if", [left, then, this.binary(of)]);
      }
      case "as": {
        const alias = this.token().kind === "string" ? this.take().value : this.name();
        return this.at(start, { node: "Alias", alias, expr: left });
      }
      default:
        return this.at(start, { node: "ArithmeticOperation", op: word as "*", left, right: right() });
    }
  }

  /** What follows a value: `.b`, `[1]`, `::int`. */
  postfix(first: ExprNode, start: number): ExprNode {
    let left = first;
    let isPlain = first.node === "Field" && first.start === start;
    for (;;) {
      const access = (property: ExprNode) => this.at(start, { node: "ArrayAccess", array: left, property });
      if (this.is("(")) throw this.unsupported("A call of an expression");
      if (this.skip("::")) {
        left = this.at(start, { node: "TypeCast", expr: left, type_name: this.typeName() });
      } else if (this.skip("[")) left = access(this.subscript());
      else if (this.is(".", "?.")) {
        const isNullish = this.take().text === "?.";
        if (isNullish && this.skip("[")) left = access(this.subscript());
        else if (this.token().kind === "number") {
          left = this.at(start, { node: "TupleAccess", tuple: left, index: this.index() });
        } else if (left.node === "Field" && isPlain && (this.is("*") || !isNullish)) {
          const isStar = this.is("*");
          left = this.at(start, { ...left, chain: [...left.chain, isStar ? this.take().text : this.name()] });
          isPlain = !isStar;
          continue;
        } else {
          const { start: from } = this.token();
          left = access(this.at(from, { node: "Constant", value: this.name() }));
        }
      } else return left;
      isPlain = false;
    }
  }

  /** What stands in brackets after a value. */
  subscript(): ExprNode {
    const property = this.expression();
    if (this.is(":")) throw this.unsupported("A slice of an array");
    this.expect("]");
    return property;
  }

  index(): number {
    const { text, ...at } = this.take();
    if (!/^\d{1,9}$/.test(text)) throw new Refusal(`The index of a tuple must be a whole number, got ${text}`, at);
    return Number(text);
  }

  typeName(): string {
    const name = this.name().toLowerCase();
    if (this.is("(")) throw this.unsupported(`The type ${name}(…)`);
    return name;
  }

  isNumber(ahead: number): boolean {
    const { kind } = this.token(ahead);
    return (
      kind === "number" ||
      (this.isAt(ahead, ".") && this.token(ahead + 1).kind === "number") ||
      this.isAt(ahead, "inf", "infinity", "nan")
    );
  }

  number(): ExprNode {
    const { start } = this.token();
    const sign = this.is("-") ? -1 : 1;
    if (this.is("-", "+")) this.take();
    const first = this.take();
    const place = () => ({ start, end: this.end });
    if (first.kind === "word") {
      const value = first.text === "nan" ? "NaN" : sign < 0 ? "-Infinity" : "Infinity";
      return { node: "Constant", value, value_type: "number", ...place() };
    }
    let text = first.text;
    // The parts of a decimal number are tokens of their own, for `t.1.2`.
    if (text === ".") text += this.take().text;
    else if (/^\d+$/.test(text) && this.is(".") && !this.isNamed(1)) {
      this.take();
      text += `.${this.token().kind === "number" ? this.take().text : ""}`;
    }
    const isFloat = !/^0[xb]/i.test(text) && /[.e]/i.test(text);
    const value = sign * Number(text);
    const isExact = isFloat || Number.isSafeInteger(value);
    if (!isExact) return { node: "Constant", value: `${sign < 0 ? "-" : ""}${text}`, value_type: "number", ...place() };
    return { node: "Constant", value, ...(isFloat && { isFloat }), ...place() };
  }

  primary(): ExprNode {
    const token = this.token();
    const { start, kind, text } = token;
    const at = () => ({ start, end: this.end });
    if (this.isNumber(0) || (this.is("+") && this.isNumber(1))) return this.number();
    if (kind === "string") return { node: "Constant", value: this.take().value, ...at() };
    if (this.is("*")) {
      this.take();
      return { node: "Field", chain: ["*"], ...at() };
    }
    if (this.is("(")) return this.parentheses();
    if (this.is("[")) return this.array();
    if (this.is("{")) return this.braces();
    if (kind === "name") return { node: "Field", chain: [this.take().value], ...at() };
    if (kind !== "word") throw this.unexpected("an expression");
    const special = this.special(text, start);
    if (special) return special;
    if (this.isAt(1, "(")) return this.call();
    if (this.isAt(1, "->")) return this.lambda();
    if (reserved.includes(text)) throw this.unexpected("an expression");
    if (text === "null") return this.constant(null);
    if ((text === "true" || text === "false") && !this.isAt(1, ".")) return this.constant(text === "true");
    return { node: "Field", chain: [this.take().value], ...at() };
  }

  constant(value: boolean | null): ExprNode {
    const { start, end } = this.take();
    return { node: "Constant", value, start, end };
  }

  special(word: string, start: number): ExprNode | undefined {
    const next = this.token(1);
    if (word === "case" && this.isCase()) return this.case();
    if (word === "interval" && this.startsExpression(1)) return this.interval();
    if ((word === "date" || word === "timestamp") && next.kind === "string")
      throw this.unsupported(`The literal ${word.toUpperCase()} '…'`);
    if (word === "f" && next.kind === "string" && next.start === this.token().end)
      throw this.unsupported("A template string f'…'");
    if ((word === "cast" || word === "try_cast") && this.isAt(1, "(")) return this.cast(start);
    if (word === "trim" && this.isAt(1, "(") && this.isAt(2, "both", "leading", "trailing")) return this.trim(start);
    if (word === "array" && this.isAt(1, "[")) {
      this.take();
      return this.array();
    }
    if (word === "columns" && this.isAt(1, "(")) throw this.unsupported("COLUMNS");
    return undefined;
  }

  parentheses(): ExprNode {
    const { start } = this.token();
    if (this.isAt(this.closing(0) + 1, "->") && this.isNames()) return this.lambda();
    return this.nested(() => {
      const startsQuery = this.isQuery();
      this.take();
      if (startsQuery && this.is("select", "with")) {
        const query = this.querySet();
        this.expect(")");
        return query;
      }
      const first = this.expression();
      if (isQuery(first) && this.is(...setOperators)) {
        const query = this.withSets(first, start + 1);
        this.expect(")");
        return query;
      }
      if (!this.is(",")) {
        this.expect(")");
        return first;
      }
      const exprs = [first];
      while (this.skip(",")) if (!this.is(")")) exprs.push(this.expression());
      this.expect(")");
      return { node: "Tuple", exprs, start, end: this.end };
    });
  }

  /** `(a, b)` with names only. */
  isNames(): boolean {
    const close = this.closing(0);
    for (let at = 1; at < close; at++) if (!this.isNamed(at) && !this.isAt(at, ",")) return false;
    return true;
  }

  lambda(): ExprNode {
    const { start } = this.token();
    const args: string[] = [];
    if (this.skip("(")) {
      while (!this.skip(")")) {
        args.push(this.name());
        this.skip(",");
      }
    } else {
      // The service reads `f(a, b -> c)` as `f((a, b) -> c)`.
      if (this.isAt(-1, ","))
        throw this.unsupported("A function as a later argument without parentheses around its names");
      args.push(this.name());
    }
    this.expect("->");
    if (this.is("{")) throw this.unsupported("A function with a block");
    return { node: "Lambda", args, expr: this.expression(), start, end: this.end };
  }

  array(): ExprNode {
    const { start } = this.token();
    this.expect("[");
    const exprs = this.is("]") ? [] : this.list(() => this.expression());
    this.expect("]");
    return { node: "Array", exprs, start, end: this.end };
  }

  braces(): ExprNode {
    const { start } = this.token();
    this.expect("{");
    if (this.is("}")) throw this.unsupported("A dictionary");
    const expr = this.expression();
    if (this.is(":")) throw this.unsupported("A dictionary", start);
    this.expect("}");
    return { node: "Placeholder", expr, start, end: this.end };
  }

  /** Arguments in parentheses, `DISTINCT` before them or not. */
  arguments(): { args: ExprNode[]; distinct: boolean } {
    this.expect("(");
    const distinct = this.is("distinct") && this.startsExpression(1) && this.skip("distinct");
    const startsQuery = this.is("select", "with") && this.isQuery();
    const args = this.is(")") ? [] : startsQuery ? [this.querySet()] : this.list(() => this.expression());
    if (this.is("order")) throw this.unsupported("ORDER BY in a function");
    this.expect(")");
    return { args, distinct };
  }

  window(name: string, exprs: ExprNode[], args: ExprNode[], start: number): WindowFunctionNode {
    this.take();
    const over = this.is("(") ? { over_expr: this.windowExpression() } : { over_identifier: this.name() };
    return { node: "WindowFunction", name, exprs, args, ...over, start, end: this.end };
  }

  windowExpression(): WindowNode {
    const { start } = this.token();
    this.expect("(");
    const partition_by = this.skipBoth("partition", "by") ? this.list(() => this.expression()) : undefined;
    const order_by = this.skipBoth("order", "by") ? this.orders() : undefined;
    const frame = this.is("rows", "range") ? this.frame() : {};
    this.expect(")");
    return this.at(start, { node: "WindowExpr", partition_by, order_by, ...frame });
  }

  frame(): Pick<WindowNode, "frame_method" | "frame_start" | "frame_end"> {
    const frame_method = this.take().text === "rows" ? "ROWS" : "RANGE";
    if (!this.skip("between")) return { frame_method, frame_start: this.bound() };
    const frame_start = this.bound();
    this.expect("and");
    return { frame_method, frame_start, frame_end: this.bound() };
  }

  bound(): FrameNode {
    const { start, kind, text } = this.token();
    const at = () => ({ start, end: this.end });
    if (this.skipBoth("current", "row")) return { node: "WindowFrameExpr", frame_type: "CURRENT ROW", ...at() };
    if (!this.is("unbounded") && !(kind === "number" && /^\d{1,9}$/.test(text)))
      throw this.unexpected("CURRENT ROW, UNBOUNDED or a number of rows");
    this.take();
    const frame_type = this.is("following") ? "FOLLOWING" : "PRECEDING";
    this.expect(frame_type.toLowerCase());
    return { node: "WindowFrameExpr", frame_type, ...(kind === "number" && { frame_value: Number(text) }), ...at() };
  }

  call(): CallNode | WindowFunctionNode {
    const { start } = this.token();
    const name = this.take().value;
    return this.nested(() => {
      const first = this.arguments();
      const second = this.is("(") ? this.arguments() : undefined;
      const { args, distinct } = second ?? first;
      if (this.skipBoth("within", "group")) throw this.unsupported("WITHIN GROUP", start);
      const filter_expr = this.is("filter") && this.isAt(1, "(") ? this.filter() : undefined;
      if (this.is("over") && (this.isAt(1, "(") || this.isNamed(1))) {
        if (distinct || filter_expr) throw this.unsupported("DISTINCT or FILTER of a window function", start);
        return this.window(name, first.args, second?.args ?? [], start);
      }
      const params = second && first.args;
      return this.at(start, { node: "Call", name, args, params, distinct: distinct || undefined, filter_expr });
    });
  }

  filter(): ExprNode {
    this.take();
    this.expect("(");
    this.expect("where");
    const expr = this.expression();
    this.expect(")");
    return expr;
  }

  /** True for `CASE … WHEN`, false for a column or a function of that name. */
  isCase(): boolean {
    if (this.isAt(1, "when")) return true;
    if (this.isAt(1, "(")) return this.isAt(this.closing(1) + 1, "when", "+", "*", "/", "%", "||", ".", "[");
    return this.startsExpression(1) && !this.isAt(1, ".", "*");
  }

  case(): ExprNode {
    const { start } = this.token();
    this.take();
    const of = this.is("when") ? undefined : this.expression();
    const args: ExprNode[] = of ? [of] : [];
    while (this.skip("when")) {
      args.push(this.expression());
      this.expect("then");
      args.push(this.expression());
    }
    if (args.length < 2) throw this.unexpected("'WHEN'");
    args.push(this.skip("else") ? this.expression() : { node: "Constant", value: null });
    this.expect("end");
    const name = of ? "_caseWithExpression" : args.length === 3 ? "if" : "multiIf";
    return { node: "Call", name, args, start, end: this.end };
  }

  interval(): ExprNode {
    const { start } = this.token();
    this.take();
    const interval = (unit: string, count: ExprNode): ExprNode =>
      this.at(start, { node: "Call", name: `toInterval${capital(unit)}`, args: [count] });
    const isUnit = (text: string) => units.some((it) => it === text);
    const token = this.token();
    if (token.kind === "string" && !isUnit(this.token(1).text)) {
      this.take();
      const [, count, unit = ""] = /^\s*(-?\d+)\s+([a-z]+?)s?\s*$/i.exec(token.value) ?? [];
      if (count === undefined || !isUnit(unit.toLowerCase()))
        throw new Refusal("Unsupported interval type: must be in the format '<count> <unit>'", token);
      return interval(unit.toLowerCase(), {
        node: "Constant",
        value: Number(count),
        start: token.start,
        end: token.end,
      });
    }
    const count = this.expression();
    const unit = this.token().text;
    if (!isUnit(unit)) throw this.unexpected("a unit: second, minute, hour, day, week, month, quarter or year");
    this.take();
    return interval(unit, count);
  }

  cast(start: number): ExprNode {
    const name = this.take();
    this.expect("(");
    const expr = this.binary(power.ternary);
    if (!this.skip("as")) {
      const args = [expr];
      while (this.skip(",")) args.push(this.expression());
      this.expect(")");
      return { node: "Call", name: name.value, args, start, end: this.end };
    }
    const type_name = this.typeName();
    this.expect(")");
    return { node: name.text === "cast" ? "TypeCast" : "TryCast", expr, type_name, start, end: this.end };
  }

  trim(start: number): ExprNode {
    this.drop(2);
    const side = this.take().text;
    const characters = this.primary();
    this.expect("from");
    const of = this.expression();
    this.expect(")");
    const name = side === "both" ? "trim" : side === "leading" ? "trimLeft" : "trimRight";
    return { node: "Call", name, args: [of, characters], start, end: this.end };
  }
}

const isConcat = (node: ExprNode): node is CallNode =>
  node.node === "Call" && node.name === "concat" && node.params === undefined;
