import { own } from "../../../kernel/base/json.ts";
import { didYouMean, nearest } from "../../../kernel/base/nearest.ts";
import { aggregateCall, aggregateNamed, aggregateNames } from "./aggregates.ts";
import {
  type CallNode,
  type CompareNode,
  type ExprNode,
  isQuery,
  type Located,
  placeOf,
  type WindowFunctionNode,
} from "./ast.ts";
import { arithmeticFunctions, checkMembers, comparison, comparisonFunctions, setKeys } from "./compare.ts";
import { shiftedTime } from "./functions/dates.ts";
import type { FunctionContext } from "./functions/row.ts";
import { functionNamed, functions, isAbsentFunction } from "./functions/table.ts";
import { type Chain, jsonIn, type NameScope, nameIn, type Subquery } from "./names.ts";
import { checkCount, placed, Refusal } from "./refusal.ts";
import { type Build, compile, type HogQLTerm, isAggregated, type Local, type SourceColumn, strict } from "./term.ts";
import {
  flag,
  float,
  type HogQLValue,
  isInteger,
  isTime,
  nothing,
  nullable,
  string,
  type Type,
  typeName,
  typeOfInteger,
} from "./types.ts";
import { keyOf } from "./values.ts";
import { windowAggregates, windowCall, windowFunctions } from "./windows.ts";

const fromOne = "SQL indexes start from one, not from zero. E.g: array";

const casts: Readonly<Record<string, string>> = {
  ...{ int: "toInt", integer: "toInt", bigint: "toInt", float: "toFloat", double: "toFloat", real: "toFloat" },
  ...{ string: "toString", text: "toString", varchar: "toString", boolean: "toBool", bool: "toBool" },
  ...{ date: "toDate", datetime: "toDateTime", timestamp: "toDateTime", uuid: "toUUID" },
};

function constant(value: HogQLValue, type: Type, at: Located): HogQLTerm {
  return { op: "constant", key: `constant ${typeName(type)} ${keyOf(value)}`, type, value, at };
}

function columnTerm(key: string, column: SourceColumn, at: Located): HogQLTerm {
  return { op: "column", key, type: column.type, column, at };
}

/** A call of literals is a literal, unless it fails: it may be in a branch that is not used. */
function callTerm(key: string, type: Type, args: readonly HogQLTerm[], build: Build, at: Located): HogQLTerm {
  const call: HogQLTerm = { op: "call", key, type, args, build, at };
  if (!args.every((it) => it.op === "constant")) return call;
  try {
    return constant(compile(call)(0), type, at);
  } catch (error) {
    if (error instanceof Refusal) return call;
    throw error;
  }
}

function literal(node: ExprNode & { node: "Constant" }): HogQLTerm {
  const { value } = node;
  if (value === null) return constant(null, nothing, node);
  if (typeof value === "boolean") return constant(Number(value), { kind: "Bool" }, node);
  const isNumber = node.value_type === "number" || typeof value === "number";
  if (!isNumber) return constant(value, string, node);
  const isWhole = node.value_type === "number" ? /^-?\d/.test(String(value)) : Number.isInteger(value) && !node.isFloat;
  const number = Number(value);
  if (isWhole && (typeof value === "string" || !Number.isSafeInteger(number)))
    throw new Refusal(`The integer ${value} is beyond 2^53, which is not emulated`);
  return constant(number, isWhole ? typeOfInteger(number) : float, node);
}

/** The chain of `properties['a'].b`; undefined if the expression is not one. */
function chainOf(node: ExprNode): (string | number)[] | undefined {
  if (node.node === "Field") return [...node.chain];
  const [of, step] =
    node.node === "ArrayAccess"
      ? [node.array, node.property.node === "Constant" ? node.property.value : undefined]
      : node.node === "TupleAccess"
        ? [node.tuple, node.index]
        : [];
  const from = of && chainOf(of);
  return from && (typeof step === "string" || typeof step === "number") ? [...from, step] : undefined;
}

function unknownFunction(name: string, node: Located): Refusal {
  if (windowFunctions.includes(name)) return new Refusal(`The function ${name} needs a window: OVER (…)`, node);
  if (name === "arrayJoin") return new Refusal("arrayJoin has one array, and no place inside another arrayJoin", node);
  if (isAbsentFunction(name)) return new Refusal(`The function ${name} is not emulated`, node);
  const known = [...functions.keys(), ...Object.keys(comparisonFunctions), ...aggregateNames];
  const near = nearest(
    name,
    known.filter((it) => !it.startsWith("_")),
  );
  const hint = near === undefined ? "" : `. Perhaps you meant '${near}(...)'?`;
  return new Refusal(`Unsupported function call '${name}(...)'${hint}`, node);
}

export class Resolver {
  readonly #context: FunctionContext;
  /** Numbers for keys that no other term has. */
  #count = 0;

  constructor(context: FunctionContext) {
    this.#context = context;
  }

  term(node: ExprNode, scope: NameScope): HogQLTerm {
    return placed(node, () => this.#term(node, scope));
  }

  #term(node: ExprNode, scope: NameScope): HogQLTerm {
    switch (node.node) {
      case "Constant":
        return literal(node);
      case "Field":
        return this.#field(node.chain, scope, node);
      case "Alias": {
        if (scope.aliases.has(node.alias))
          throw new Refusal(`Cannot redefine an alias with the name: ${node.alias}`, node);
        const term = this.term(node.expr, scope);
        scope.aliases.set(node.alias, term);
        return term;
      }
      case "Call":
        return this.#call(node, scope);
      case "WindowFunction":
        return this.#window(node, scope);
      case "And":
      case "Or":
      case "Tuple":
      case "Array":
        return this.#applied(node.node.toLowerCase(), this.#terms(node.exprs, scope), node);
      case "Not":
        return this.#applied("not", [this.term(node.expr, scope)], node);
      case "ArithmeticOperation":
        return this.#arithmetic(node.op, this.term(node.left, scope), this.term(node.right, scope), node);
      case "CompareOperation":
        return this.#compare(node, scope);
      case "BetweenExpr": {
        const [of, low, high] = [node.expr, node.low, node.high].map((it) => this.term(it, scope));
        if (!of || !low || !high) throw new Refusal("BETWEEN needs two bounds");
        const bounds = [this.#compared(">=", of, low, node), this.#compared("<=", of, high, node)];
        const inside = this.#applied("and", bounds, node);
        return node.negated ? this.#applied("not", [inside], node) : inside;
      }
      case "ArrayAccess":
        if (node.property.node === "Constant" && node.property.value === 0) throw new Refusal(`${fromOne}[1]`, node);
        return (
          this.#jsonField(node, scope) ??
          this.#applied("arrayElement", this.#terms([node.array, node.property], scope), node)
        );
      case "TupleAccess":
        if (node.index === 0) throw new Refusal(`${fromOne}.1`, node);
        return this.#jsonField(node, scope) ?? this.#element(this.term(node.tuple, scope), node.index, node);
      case "Lambda":
        throw new Refusal("A function can only be an argument of array functions such as arrayMap");
      case "RowTest": {
        const { test } = node;
        const { below = (row: number) => row } = scope;
        return columnTerm(`test ${++this.#count}`, { type: flag, read: (row) => Number(test(below(row))) }, node);
      }
      case "Placeholder":
        throw new Refusal("Unresolved placeholder");
      case "TypeCast":
      case "TryCast": {
        const name = node.type_name.toLowerCase();
        const cast = own(casts, name);
        if (cast !== undefined) return this.#applied(cast, [this.term(node.expr, scope)], node);
        throw new Refusal(`Unsupported type cast to ${node.type_name}${didYouMean(name, Object.keys(casts))}`, node);
      }
      case "SelectQuery":
      case "SelectSetQuery":
        return this.#scalar(scope.subquery(node), node);
    }
  }

  #terms(nodes: readonly ExprNode[], scope: NameScope): HogQLTerm[] {
    return nodes.map((it) => this.term(it, scope));
  }

  #field(chain: Chain, scope: NameScope, node: Located): HogQLTerm {
    if (chain.includes(0)) throw new Refusal(`${fromOne}.1`, node);
    const named = nameIn(chain, scope, node);
    let here =
      named.is === "expression"
        ? this.term(named.expression, scope)
        : named.is === "column"
          ? columnTerm(named.key, named.column, node)
          : named.term;
    for (const step of named.rest) {
      if (here.type.kind !== "Tuple" || typeof step !== "number")
        throw new Refusal(`Cannot resolve type ${chain.join(".")}. Unable to resolve ${step}.`, node);
      here = this.#element(here, step, node);
    }
    return here;
  }

  #element(tuple: HogQLTerm, index: number, node: Located): HogQLTerm {
    return this.#applied("tupleElement", [tuple, constant(index, typeOfInteger(index), node)], node);
  }

  /** A member of a JSON column that is written with brackets or numbers. */
  #jsonField(node: ExprNode, scope: NameScope): HogQLTerm | undefined {
    const chain = chainOf(node);
    return chain && jsonIn(chain, scope) ? this.#field(chain, scope, node) : undefined;
  }

  #applied(name: string, args: readonly HogQLTerm[], node: Located): HogQLTerm {
    const row = functionNamed(name);
    if (!row) throw unknownFunction(name, node);
    checkCount(`Function '${name}'`, args.length, row.args, node);
    return placed(node, () => {
      const { type, build } = row.resolve(args, this.#context);
      return callTerm(`${row.name}(${args.map((it) => it.key).join(", ")})`, type, args, build, node);
    });
  }

  #call(node: CallNode, scope: NameScope): HogQLTerm {
    const { name, args } = node;
    const op = own(comparisonFunctions, name);
    if (op !== undefined) {
      const [left, right] = args;
      if (!left || !right || args.length > 2)
        throw new Refusal(`Comparison '${name}' requires exactly two arguments`, node);
      return this.#compare({ node: "CompareOperation", op, left, right, ...placeOf(node) }, scope);
    }
    if (aggregateNamed(name)) return this.#aggregate(node, scope);
    if (!functionNamed(name)) throw unknownFunction(name, node);
    for (const [what, value] of Object.entries({
      DISTINCT: node.distinct,
      FILTER: node.filter_expr,
      Parameters: node.params,
    }))
      if (value) throw new Refusal(`${what} of the function '${name}' is not emulated`, node);
    const text = name.startsWith("JSON") ? this.#jsonText(node, scope) : undefined;
    if (text) return text;
    const [first, ...others] = args;
    if (first?.node !== "Lambda") return this.#applied(name, this.#terms(args, scope), node);
    const arrays = this.#terms(others, scope);
    return this.#applied(name, [this.#lambda(first, arrays, scope), ...arrays], node);
  }

  /** `JSONExtractString(properties, 'a')` reads the property: the whole text of the properties is not needed. */
  #jsonText(node: CallNode, scope: NameScope): HogQLTerm | undefined {
    const [of, name, ...rest] = node.args;
    if (of?.node !== "Field" || name?.node !== "Constant" || typeof name.value !== "string") return undefined;
    const json = jsonIn(of.chain, scope);
    if (json?.path.length !== 0) return undefined;
    const key = `text ${of.chain.join(".")}.${JSON.stringify(name.value)}`;
    return this.#applied(
      node.name,
      [columnTerm(key, json.json.text(name.value), of), ...this.#terms(rest, scope)],
      node,
    );
  }

  #lambda(node: ExprNode & { node: "Lambda" }, arrays: readonly HogQLTerm[], scope: NameScope): HogQLTerm {
    const names = new Map(scope.locals);
    const locals = node.args.map((name, i): Local => {
      const { type } = arrays[i] ?? {};
      if (!type) throw new Refusal(`The function has ${node.args.length} arguments, and ${arrays.length} arrays`, node);
      const local: Local = { value: null };
      const item = type.kind === "Array" ? type.item : nothing;
      names.set(name, { op: "local", key: `local ${++this.#count}`, type: item, local, at: node });
      return local;
    });
    const body = this.term(node.expr, { ...scope, locals: names });
    if (isAggregated(body)) throw new Refusal("Aggregations inside functions of arrays are not emulated", node);
    return { op: "lambda", key: `lambda ${body.key}`, type: body.type, locals, body, at: node };
  }

  #window(node: WindowFunctionNode, scope: NameScope): HogQLTerm {
    const { exprs, args, over_expr, over_identifier } = node;
    const name = own(windowAggregates, node.name) ?? node.name;
    if (!scope.windows) throw new Refusal("A window function has no place here", node);
    const window = over_expr ?? own(scope.windows, over_identifier ?? "");
    if (!window) throw new Refusal(`There is no window ${over_identifier}`, node);
    const inner: NameScope = { ...scope, windows: undefined };
    const call: CallNode = {
      ...node,
      node: "Call",
      name,
      args: exprs,
      ...(args.length > 0 && { params: exprs, args }),
    };
    const aggregate = aggregateNamed(name) ? this.#aggregate(call, inner, true) : undefined;
    return windowCall({
      ...{ name, aggregate, window, at: node },
      args: aggregate ? [] : this.#terms(call.args, inner),
      partition: this.#terms(window.partition_by ?? [], inner),
      order: (window.order_by ?? []).map((it) => this.term(it.expr, inner)),
    });
  }

  #aggregate(node: CallNode, scope: NameScope, isWindow = false): HogQLTerm & { op: "aggregate" } {
    const [first] = node.args;
    const isStar = /^count(?:If)?$/i.test(node.name) && first?.node === "Field" && first.chain[0] === "*";
    return aggregateCall(
      {
        name: node.name,
        args: this.#terms(isStar ? node.args.slice(1) : node.args, scope),
        params: node.params ? this.#terms(node.params, scope) : undefined,
        filter: node.filter_expr ? this.term(node.filter_expr, scope) : undefined,
        isDistinct: node.distinct ?? false,
        isWindow,
        at: node,
      },
      (conditions) => this.#applied("and", conditions, node),
    );
  }

  #arithmetic(op: keyof typeof arithmeticFunctions, left: HogQLTerm, right: HogQLTerm, node: Located): HogQLTerm {
    const [time, by] = op === "+" && isTime(right.type.kind) ? [right, left] : [left, right];
    if ((op === "+" || op === "-") && isTime(time.type.kind) && time.type.kind !== by.type.kind) {
      const unit = by.type.kind === "Interval" ? by.type.unit : time.type.kind === "Date" ? "day" : "second";
      if (by.type.kind !== "Interval" && !isInteger(by.type.kind) && by.type.kind !== "Nothing")
        throw new Refusal(
          `Illegal types ${typeName(left.type)}, ${typeName(right.type)} of ${arithmeticFunctions[op]}`,
        );
      const [type, run] = shiftedTime(arithmeticFunctions[op], time, unit, op === "+" ? 1 : -1, this.#context);
      const isNull = (time.type.nullable ?? false) || (by.type.nullable ?? false);
      const build = strict((at = null, count = 0) => run(at, count));
      return callTerm(`${op}(${time.key}, ${by.key})`, nullable(type, isNull), [time, by], build, node);
    }
    if (isTime(left.type.kind) || isTime(right.type.kind))
      throw new Refusal(
        `${arithmeticFunctions[op]} of ${typeName(left.type)} and ${typeName(right.type)} is not emulated; use dateDiff, dateAdd or an interval`,
      );
    return this.#applied(arithmeticFunctions[op], [left, right], node);
  }

  #compared(op: string, left: HogQLTerm, right: HogQLTerm, node: Located): HogQLTerm {
    return placed(node, () => {
      const build = comparison(op, left, right, this.#context);
      return callTerm(`${op}(${left.key}, ${right.key})`, flag, [left, right], build, node);
    });
  }

  #compare(node: CompareNode, scope: NameScope): HogQLTerm {
    const left = this.term(node.left, scope);
    if (node.op === "in" || node.op === "not in") return this.#in(node, left, scope);
    return this.#compared(node.op, left, this.term(node.right, scope), node);
  }

  #in(node: CompareNode, left: HogQLTerm, scope: NameScope): HogQLTerm {
    const isNegated = node.op === "not in";
    const query = this.#queryOf(node.right, scope);
    const items = query ? [] : this.#members(node.right, left, scope);
    const keys = query ? queryKeys(query, left.type, node) : setKeys(left, items, this.#context);
    const build: Build = ([read]) => {
      const has = (key: unknown): boolean => (typeof keys === "function" ? keys() : keys).has(key);
      return (row) => Number(has(keyOf(read?.(row) ?? null)) !== isNegated);
    };
    const right = query ? `query ${++this.#count}` : items.map((it) => it.key).join(", ");
    const key = `${node.op}(${left.key}, ${right})`;
    // The rows of a query are known once it ran.
    return query
      ? { op: "call", key, type: flag, args: [left], build, at: node }
      : callTerm(key, flag, [left], build, node);
  }

  #members(right: ExprNode, left: HogQLTerm, scope: NameScope): HogQLTerm[] {
    const nodes = right.node === "Tuple" || right.node === "Array" ? right.exprs : undefined;
    // One tuple for a tuple on the left: a single member.
    const isOne = left.type.kind === "Tuple" && right.node === "Tuple" && !nodes?.every((it) => it.node === "Tuple");
    if (nodes && !isOne) return this.#terms(nodes, scope);
    const only = this.term(right, scope);
    if (nodes || only.op !== "constant" || only.type.kind !== "Array" || typeof only.value !== "object") return [only];
    const { item } = only.type;
    return (only.value ?? []).map((it) => constant(it, it === null ? nothing : item, only.at));
  }

  /** The query on the right side of IN, also one that a name of WITH stands for. */
  #queryOf(node: ExprNode, scope: NameScope): Subquery | undefined {
    if (isQuery(node)) return scope.subquery(node);
    const name = node.node === "Field" && node.chain.length === 1 ? String(node.chain[0]) : undefined;
    const query = name === undefined ? undefined : scope.expressions.get(name);
    return query && isQuery(query) ? scope.subquery(query) : undefined;
  }

  #scalar(query: Subquery, node: Located): HogQLTerm {
    const [column] = query.columns;
    if (!column || query.columns.length > 1) throw new Refusal("A query in an expression must have one column", node);
    const value = (): HogQLValue => {
      const rows = query.rows();
      if (rows.length > 1) throw new Refusal("Scalar subquery returned more than one row", node);
      return rows[0]?.[0] ?? null;
    };
    return { op: "late", key: `query ${++this.#count}`, type: nullable(column.type), value, at: node };
  }
}

/** The rows of a query as keys of a set, once it ran. @throws Refusal if none can be equal to the left side */
function queryKeys(query: Subquery, left: Type, node: Located): () => ReadonlySet<unknown> {
  const types = query.columns.map((it) => it.type);
  const isTuple = types.length > 1;
  checkMembers(left, isTuple ? { kind: "Tuple", items: types } : (types[0] ?? nothing), node);
  let keys: ReadonlySet<unknown> | undefined;
  return () => (keys ??= new Set(query.rows().map((it) => keyOf(isTuple ? it : (it[0] ?? null)))));
}
