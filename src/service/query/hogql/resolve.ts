import { didYouMean, nearest } from "../../../kernel/base/nearest.ts";
import { aggregateNamed, aggregateNames, aggregateOf } from "./aggregates.ts";
import type { CallNode, CompareNode, ExprNode, FieldNode, Located, QueryNode } from "./ast.ts";
import { comparison, comparisonFunctions, setKeys } from "./compare.ts";
import { shiftedTime } from "./functions/dates.ts";
import type { FunctionContext } from "./functions/row.ts";
import { absentFunctions, functionNamed, functions } from "./functions/table.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Member, RowSource, Table } from "./source.ts";
import { isQuery } from "./syntax.ts";
import { aggregatesIn, compile, type HogQLTerm, isAggregated, type Local, type SourceColumn, strict } from "./term.ts";
import {
  commonType,
  flag,
  float,
  type HogQLValue,
  isInteger,
  isMoment,
  isNumber,
  isTime,
  nothing,
  nullable,
  string,
  type Type,
  typeName,
  typeOfInteger,
} from "./types.ts";
import { keyOf } from "./values.ts";

/** A query in an expression: its columns, and its rows once it ran. */
export interface Subquery {
  readonly columns: readonly { readonly name: string; readonly type: Type }[];
  rows(): readonly (readonly HogQLValue[])[];
}

/** Names that an expression may use. */
export interface NameScope {
  readonly tables: ReadonlyMap<string, RowSource>;
  /** Tables without a name. */
  readonly anonymous: readonly RowSource[];
  /** Aliases of the query so far. */
  readonly aliases: Map<string, HogQLTerm>;
  /** Expressions of `WITH`. */
  readonly expressions: ReadonlyMap<string, ExprNode>;
  readonly locals: ReadonlyMap<string, HogQLTerm>;
  /** Plans a query inside the expression; it runs before the rows are read. */
  subquery(node: QueryNode): Subquery;
}

type At = Located;

const fromOne = "SQL indexes start from one, not from zero. E.g: array.1";

const constant = (value: HogQLValue, type: Type, at: At): HogQLTerm => ({
  op: "constant",
  key: `constant ${typeName(type)} ${keyOf(value)}`,
  type,
  value,
  at,
});

/** Resolves the names and types of expressions. */
export interface Resolver {
  /** @throws Refusal */
  term(node: ExprNode, scope: NameScope): HogQLTerm;
}

export function createResolver(context: FunctionContext): Resolver {
  let numbers = 0;
  const tableNumbers = new WeakMap<Table, number>();
  const numberOf = (table: Table): number => {
    const known = tableNumbers.get(table) ?? ++numbers;
    tableNumbers.set(table, known);
    return known;
  };

  function term(node: ExprNode, scope: NameScope): HogQLTerm {
    return placed(node, () => resolved(node, scope));
  }

  function resolved(node: ExprNode, scope: NameScope): HogQLTerm {
    switch (node.node) {
      case "Constant":
        return literal(node);
      case "Field":
        return field(node, node.chain, scope);
      case "Alias": {
        if (scope.aliases.has(node.alias))
          throw new Refusal(`Cannot redefine an alias with the name: ${node.alias}`, node);
        const made = term(node.expr, scope);
        scope.aliases.set(node.alias, made);
        return made;
      }
      case "Call":
        return call(node, scope);
      case "And":
      case "Or":
        return named(node.node.toLowerCase(), node.exprs, node, scope);
      case "Not":
        return named("not", [node.expr], node, scope);
      case "Tuple":
        return named("tuple", node.exprs, node, scope);
      case "Array":
        return named("array", node.exprs, node, scope);
      case "ArithmeticOperation":
        return arithmetic(node.op, term(node.left, scope), term(node.right, scope), node);
      case "CompareOperation":
        return compare(node, scope);
      case "BetweenExpr": {
        const [of, low, high] = [node.expr, node.low, node.high].map((it) => term(it, scope));
        if (!of || !low || !high) throw new Refusal("BETWEEN needs two bounds");
        const inside = applied("and", [compared(">=", of, low, node), compared("<=", of, high, node)], node);
        return node.negated ? applied("not", [inside], node) : inside;
      }
      case "ArrayAccess":
        return access(node.array, node.property, node, scope);
      case "TupleAccess":
        return member(node.tuple, node.index, node, scope);
      case "Lambda":
        throw new Refusal("A function can only be an argument of array functions such as arrayMap");
      case "RowTest": {
        const { test } = node;
        return columnTerm(`test ${++numbers}`, { type: flag, read: (row) => Number(test(row)) }, node);
      }
      case "Placeholder":
        throw new Refusal("Unresolved placeholder");
      case "TypeCast":
      case "TryCast":
        return cast(node.expr, node.type_name, node, scope);
      case "SelectQuery":
      case "SelectSetQuery":
        return scalar(scope.subquery(node), node);
    }
  }

  function literal(node: ExprNode & { node: "Constant" }): HogQLTerm {
    const { value } = node;
    if (value === null) return constant(null, nothing, node);
    if (typeof value === "boolean") return constant(Number(value), { kind: "Bool" }, node);
    if (node.value_type === "number") {
      if (/^-?\d/.test(String(value))) throw new Refusal(`The integer ${value} is beyond 2^53, which is not emulated`);
      return constant(Number(value), float, node);
    }
    if (typeof value === "string") return constant(value, string, node);
    const isWhole = Number.isInteger(value) && !node.isFloat;
    if (isWhole && !Number.isSafeInteger(value))
      throw new Refusal(`The integer ${value} is beyond 2^53, which is not emulated`);
    return constant(value, isWhole ? typeOfInteger(value) : float, node);
  }

  const columnTerm = (key: string, column: SourceColumn, at: At): HogQLTerm => ({
    op: "column",
    key,
    type: column.type,
    column,
    at,
  });

  /** Resolves `a.b.c`: a table, an alias or a column, then what follows. */
  function field(node: FieldNode, chain: readonly (string | number)[], scope: NameScope): HogQLTerm {
    checkSteps(chain, node);
    const [first = "", ...rest] = chain;
    const name = String(first);
    if (name === "*") throw new Refusal("'*' can only be used as a column of SELECT, and in count(*)", node);
    const local = scope.locals.get(name);
    if (local) return below(local, rest, node, chain);
    const table = rest.length > 0 ? scope.tables.get(name) : undefined;
    if (table) return inTable(table, rest, node, chain);
    const alias = scope.aliases.get(name);
    if (alias) return below(alias, rest, node, chain);
    const all = [...scope.tables, ...scope.anonymous.map((it) => ["", it] as const)];
    const sources = all.filter(([, it]) => it.member(name) !== undefined);
    if (sources.length > 1) {
      const names = sources.map(([of], i) => `${of || `anonymous source ${i + 1}`}.${name}`).join(", ");
      throw new Refusal(
        `Ambiguous query. Found multiple sources for field: ${name} (${names}). Use a qualified field name.`,
        node,
      );
    }
    const [source] = sources;
    if (source) return inTable(source[1], chain, node, chain);
    const expression = scope.expressions.get(name);
    if (expression) return below(term(expression, scope), rest, node, chain);
    throw unknownField(name, scope, node);
  }

  function unknownField(name: string, scope: NameScope, node: At): Refusal {
    const known = [
      ...[...scope.tables.values(), ...scope.anonymous].flatMap((it) => it.names),
      ...scope.aliases.keys(),
      ...scope.tables.keys(),
    ];
    const near = nearest(name, known);
    return new Refusal(`Unable to resolve field: ${name}${near === undefined ? "" : `. Did you mean: ${near}?`}`, node);
  }

  /** The rest of a chain after a value. */
  function below(
    of: HogQLTerm,
    rest: readonly (string | number)[],
    node: At,
    chain: readonly (string | number)[],
  ): HogQLTerm {
    let here = of;
    for (const step of rest) {
      if (here.type.kind === "Tuple" && typeof step === "number")
        here = applied("tupleElement", [here, constant(step, typeOfInteger(step), node)], node);
      else throw new Refusal(`Cannot resolve type ${chain.join(".")}. Unable to resolve ${step}.`, node);
    }
    return here;
  }

  function inTable(
    table: Table,
    [name = "", ...rest]: readonly (string | number)[],
    node: At,
    chain: readonly (string | number)[],
    path = `column ${numberOf(table)}`,
  ): HogQLTerm {
    const found = table.member(String(name));
    if (!found) {
      const near = nearest(String(name), table.names);
      const hint = near === undefined ? "" : ` Did you mean: ${near}?`;
      throw new Refusal(`Cannot resolve type ${chain.join(".")}. Unable to resolve ${name}.${hint}`, node);
    }
    const key = `${path}.${name}`;
    if (found.is === "column") return below(columnTerm(key, found.column, node), rest, node, chain);
    if (found.is === "json") return inJson(found, rest, key, node);
    if (rest.length === 0)
      throw new Refusal(`Can't select a table when a column is expected: ${chain.join(".")}`, node);
    return inTable(found.table, rest, node, chain, key);
  }

  function inJson(
    { json }: Member & { is: "json" },
    path: readonly (string | number)[],
    key: string,
    node: At,
  ): HogQLTerm {
    const [name, ...rest] = path;
    if (name === undefined) return columnTerm(key, json.whole, node);
    const column = rest.length === 0 ? json.property(String(name)) : json.nested([String(name), ...rest]);
    return columnTerm(`${key}.${JSON.stringify(path)}`, column, node);
  }

  /** The chain of `properties['a'].b`; undefined if the expression is not one. */
  function chainOf(node: ExprNode): (string | number)[] | undefined {
    if (node.node === "Field") return [...node.chain];
    if (node.node === "ArrayAccess") {
      const { property } = node;
      const from = chainOf(node.array);
      const isStep =
        property.node === "Constant" && (typeof property.value === "string" || typeof property.value === "number");
      return from && isStep ? [...from, property.value as string | number] : undefined;
    }
    if (node.node !== "TupleAccess") return undefined;
    const from = chainOf(node.tuple);
    return from && [...from, node.index];
  }

  /** True if a chain begins with a JSON column and goes below it. */
  function isJson(chain: readonly (string | number)[], scope: NameScope): boolean {
    const [first = "", ...rest] = chain;
    const name = String(first);
    const named = scope.tables.get(name);
    let tables: readonly Table[] = named && rest.length > 0 ? [named] : [...scope.tables.values(), ...scope.anonymous];
    for (const step of named && rest.length > 0 ? rest : chain) {
      if (scope.locals.has(name) || scope.aliases.has(name)) return false;
      const found = tables.map((it) => it.member(String(step))).find((it) => it !== undefined);
      if (found?.is === "json") return true;
      if (found?.is !== "table") return false;
      tables = [found.table];
    }
    return false;
  }

  function access(array: ExprNode, index: ExprNode, node: ExprNode, scope: NameScope): HogQLTerm {
    if (index.node === "Constant" && index.value === 0)
      throw new Refusal("SQL indexes start from one, not from zero. E.g: array[1]", node);
    const chain = chainOf(node);
    if (chain && isJson(chain, scope)) return field({ node: "Field", chain, ...at(node) }, chain, scope);
    return applied("arrayElement", [term(array, scope), term(index, scope)], node);
  }

  function member(of: ExprNode, index: number, node: ExprNode, scope: NameScope): HogQLTerm {
    if (index === 0) throw new Refusal(fromOne, node);
    const chain = chainOf(node);
    if (chain && isJson(chain, scope)) return field({ node: "Field", chain, ...at(node) }, chain, scope);
    return applied("tupleElement", [term(of, scope), constant(index, typeOfInteger(index), node)], node);
  }

  /** @throws Refusal for a step 0: lists begin at 1 */
  function checkSteps(chain: readonly (string | number)[], node: At): void {
    if (chain.includes(0)) throw new Refusal(fromOne, node);
  }

  const at = ({ start, end }: At): At => ({ ...(start !== undefined && { start }), ...(end !== undefined && { end }) });

  const named = (name: string, nodes: readonly ExprNode[], node: At, scope: NameScope): HogQLTerm =>
    applied(
      name,
      nodes.map((it) => term(it, scope)),
      node,
    );

  /** A call of a function with resolved arguments. */
  function applied(name: string, args: readonly HogQLTerm[], node: At): HogQLTerm {
    const row = functionNamed(name);
    if (!row) throw unknownFunction(name, node);
    checkCount("Function", name, args.length, row.args, node);
    return placed(node, () => {
      const { type, build } = row.resolve(args, context);
      return folded({
        op: "call",
        key: `${row.name}(${args.map((it) => it.key).join(", ")})`,
        type,
        args,
        build,
        at: at(node),
      });
    });
  }

  /** A call of literals is a literal, unless it fails: it may be in a branch that is not used. */
  function folded(made: HogQLTerm & { op: "call" }): HogQLTerm {
    if (!made.args.every((it) => it.op === "constant")) return made;
    try {
      return constant(compile(made)(0), made.type, made.at);
    } catch (error) {
      if (error instanceof Refusal) return made;
      throw error;
    }
  }

  function unknownFunction(name: string, node: At): Refusal {
    if (absentFunctions.has(name)) return new Refusal(`The function ${name} is not emulated`, node);
    const near = nearest(
      name,
      [...functions.keys(), ...aggregateNames].filter((it) => !it.startsWith("_")),
    );
    const hint = near === undefined ? "" : `. Perhaps you meant '${near}(...)'?`;
    return new Refusal(`Unsupported function call '${name}(...)'${hint}`, node);
  }

  function call(node: CallNode, scope: NameScope): HogQLTerm {
    const { name, args } = node;
    const op = Object.hasOwn(comparisonFunctions, name) ? comparisonFunctions[name] : undefined;
    if (op !== undefined) {
      const [left, right] = args;
      if (!left || !right || args.length > 2)
        throw new Refusal(`Comparison '${name}' requires exactly two arguments`, node);
      return compare({ node: "CompareOperation", op, left, right, ...at(node) }, scope);
    }
    if (aggregateNamed(name)) return aggregate(node, scope);
    if (!functionNamed(name)) throw unknownFunction(name, node);
    for (const [what, value] of [
      ["DISTINCT", node.distinct],
      ["FILTER", node.filter_expr],
      ["Parameters", node.params],
    ])
      if (value) throw new Refusal(`${what} of the function '${name}' is not emulated`, node);
    if (name.startsWith("JSON")) {
      const text = jsonText(node, scope);
      if (text) return text;
    }
    const [first, ...others] = args;
    if (first?.node === "Lambda") {
      const arrays = others.map((it) => term(it, scope));
      return applied(name, [lambda(first, arrays, scope), ...arrays], node);
    }
    return named(name, args, node, scope);
  }

  /** `JSONExtractString(properties, 'a')` reads the property: the whole text of the properties is not needed. */
  function jsonText(node: CallNode, scope: NameScope): HogQLTerm | undefined {
    const [of, name, ...rest] = node.args;
    if (of?.node !== "Field" || name?.node !== "Constant" || typeof name.value !== "string") return undefined;
    if (!isJson([...of.chain, name.value], scope)) return undefined;
    const json = jsonAt(of.chain, scope);
    if (!json) return undefined;
    const key = `text ${of.chain.join(".")}.${JSON.stringify(name.value)}`;
    const text = columnTerm(key, json.json.text(name.value), of);
    return applied(node.name, [text, ...rest.map((it) => term(it, scope))], node);
  }

  /** The JSON column at the end of a chain; undefined if the chain ends elsewhere, also below one. */
  function jsonAt(chain: readonly (string | number)[], scope: NameScope): (Member & { is: "json" }) | undefined {
    const [first = "", ...rest] = chain;
    const named = scope.tables.get(String(first));
    let tables: readonly Table[] = named && rest.length > 0 ? [named] : [...scope.tables.values(), ...scope.anonymous];
    const steps = named && rest.length > 0 ? rest : chain;
    for (const [i, step] of steps.entries()) {
      const found = tables.map((it) => it.member(String(step))).find((it) => it !== undefined);
      if (found?.is === "json" && i === steps.length - 1) return found;
      if (found?.is !== "table") break;
      tables = [found.table];
    }
    return undefined;
  }

  function lambda(node: ExprNode & { node: "Lambda" }, arrays: readonly HogQLTerm[], scope: NameScope): HogQLTerm {
    const locals: Local[] = [];
    const names = new Map(scope.locals);
    for (const [i, name] of node.args.entries()) {
      const local: Local = { value: null };
      const array = arrays[i];
      if (!array)
        throw new Refusal(`The function has ${node.args.length} arguments, and ${arrays.length} arrays`, node);
      locals.push(local);
      const type = array.type.kind === "Array" ? array.type.item : nothing;
      names.set(name, { op: "local", key: `local ${++numbers}`, type, local, at: at(node) });
    }
    const body = term(node.expr, { ...scope, locals: names });
    if (isAggregated(body)) throw new Refusal("Aggregations inside functions of arrays are not emulated", node);
    return { op: "lambda", key: `lambda ${body.key}`, type: body.type, locals, body, at: at(node) };
  }

  function aggregate(node: CallNode, scope: NameScope): HogQLTerm {
    const found = aggregateNamed(node.name);
    if (!found) throw unknownFunction(node.name, node);
    const { row, isConditional } = found;
    const isStar = row.name === "count" && node.args[0]?.node === "Field" && node.args[0].chain[0] === "*";
    const all = (isStar ? node.args.slice(1) : node.args).map((it) => term(it, scope));
    const [least, most] = row.args;
    const extra = isConditional ? 1 : 0;
    const range = [least + extra, most + extra] as const;
    checkCount("Aggregation", node.name, all.length, node.distinct && row.name === "count" ? [1, 16] : range, node);
    const params = (node.params ?? []).map((it) => {
      const value = term(it, scope);
      if (value.op !== "constant" || !isNumber(value.type.kind))
        throw new Refusal(`The parameters of the aggregation '${node.name}' must be numbers`, it);
      return Number(value.value);
    });
    if (node.params) checkCount("Aggregation", node.name, params.length, row.params ?? [0, 0], node, "parameter");
    else if ((row.params?.[0] ?? 0) > 0)
      throw new Refusal(`Aggregation '${node.name}' requires parameters in addition to arguments`, node);
    const filter = node.filter_expr ? term(node.filter_expr, scope) : undefined;
    const [nested] = [...all, ...(filter ? [filter] : [])].flatMap(aggregatesIn);
    if (nested)
      throw new Refusal(
        `Aggregation '${nested.name}' cannot be nested inside another aggregation '${node.name}'.`,
        node,
      );
    const own = isConditional ? all.slice(0, -1) : all;
    const conditions = [...(isConditional ? all.slice(-1) : []), ...(filter ? [filter] : [])];
    for (const it of conditions)
      if (!isNumber(it.type.kind) && it.type.kind !== "Nothing")
        throw new Refusal(`Illegal type ${typeName(it.type)} of the condition of '${node.name}'`, node);
    const args = [...own, ...(conditions.length > 1 ? [applied("and", conditions, node)] : conditions)];
    const isDistinct = node.distinct ?? false;
    const made = aggregateOf({
      row,
      types: own.map((it) => it.type),
      params,
      isDistinct,
      hasCondition: conditions.length > 0,
    });
    const key = `${row.name}${conditions.length > 0 ? "If" : ""}{${params}}${isDistinct}(${args.map((it) => it.key)})`;
    return { op: "aggregate", name: node.name, key, type: made.type, args, aggregate: made, at: at(node) };
  }

  const reversed: Readonly<Record<string, string>> = { "-": "subtract", "+": "add" };
  const functionOf = { "+": "plus", "-": "minus", "*": "multiply", "/": "divide", "%": "modulo" } as const;

  function arithmetic(op: keyof typeof functionOf, left: HogQLTerm, right: HogQLTerm, node: At): HogQLTerm {
    const isShift = op === "+" || op === "-";
    const [time, by] = op === "+" && isTime(right.type.kind) ? [right, left] : [left, right];
    if (isShift && isTime(time.type.kind) && time.type.kind !== by.type.kind) {
      const unit = by.type.kind === "Interval" ? by.type.unit : time.type.kind === "Date" ? "day" : "second";
      if (by.type.kind !== "Interval" && !isInteger(by.type.kind) && by.type.kind !== "Nothing")
        throw new Refusal(`Illegal types ${typeName(left.type)}, ${typeName(right.type)} of ${functionOf[op]}`);
      const { type, run } = shiftedTime(reversed[op] ?? op, time, unit, op === "+" ? 1 : -1, context);
      const isNull = (time.type.nullable ?? false) || (by.type.nullable ?? false);
      return folded({
        op: "call",
        key: `${op}(${time.key}, ${by.key})`,
        type: nullable(type, isNull),
        args: [time, by],
        build: strict((at, count = 0) => run(at, count)),
        at: at(node),
      });
    }
    if (isTime(left.type.kind) || isTime(right.type.kind))
      throw new Refusal(
        `${functionOf[op]} of ${typeName(left.type)} and ${typeName(right.type)} is not emulated; use dateDiff, dateAdd or an interval`,
      );
    return applied(functionOf[op], [left, right], node);
  }

  function compared(op: string, left: HogQLTerm, right: HogQLTerm, node: At): HogQLTerm {
    return placed(node, () => {
      const build = comparison(op, left, right, context);
      const key = `${op}(${left.key}, ${right.key})`;
      return folded({ op: "call", key, type: flag, args: [left, right], build, at: at(node) });
    });
  }

  function compare(node: CompareNode, scope: NameScope): HogQLTerm {
    const left = term(node.left, scope);
    if (node.op === "in" || node.op === "not in") return inSet(node, left, scope);
    return compared(node.op, left, term(node.right, scope), node);
  }

  function inSet(node: CompareNode, left: HogQLTerm, scope: NameScope): HogQLTerm {
    const isNegated = node.op === "not in";
    const made = (has: (key: unknown) => boolean, key: string): HogQLTerm => ({
      op: "call",
      key: `${node.op}(${left.key}, ${key})`,
      type: flag,
      args: [left],
      build:
        ([read]) =>
        (row) =>
          Number(has(keyOf(read?.(row) ?? null)) !== isNegated),
      at: at(node),
    });
    const query = queryOf(node.right, scope);
    if (query) {
      const types = query.columns.map((it) => it.type);
      const [first = nothing] = types;
      const type: Type = types.length > 1 ? { kind: "Tuple", items: types } : first;
      checkMembers(left.type, type, node);
      let keys: Set<unknown> | undefined;
      const all = () => (keys ??= new Set(query.rows().map((it) => keyOf(types.length > 1 ? it : (it[0] ?? null)))));
      return made((key) => all().has(key), `query ${++numbers}`);
    }
    const right = node.right;
    const nodes = right.node === "Tuple" || right.node === "Array" ? right.exprs : undefined;
    // One tuple for a tuple on the left: a single member.
    const isOne =
      nodes && left.type.kind === "Tuple" && right.node === "Tuple" && !nodes.every((it) => it.node === "Tuple");
    let items = (isOne || !nodes ? [right] : nodes).map((it) => term(it, scope));
    const [only] = items;
    if (!nodes && only?.op === "constant" && only.type.kind === "Array" && typeof only.value === "object") {
      const { item } = only.type;
      items = (only.value ?? []).map((it) => constant(it, it === null ? nothing : item, only.at));
    }
    const keys = setKeys(left, items, context);
    return folded(made((key) => keys.has(key), items.map((it) => it.key).join(", ")) as HogQLTerm & { op: "call" });
  }

  /** @throws Refusal if values of the types cannot be equal as they are */
  function checkMembers(left: Type, right: Type, node: At): void {
    if (left.kind === "Tuple" && right.kind === "Tuple" && left.items.length === right.items.length) {
      for (const [i, it] of left.items.entries()) checkMembers(it, right.items[i] ?? nothing, node);
      return;
    }
    const fits =
      left.kind === "Nothing" ||
      right.kind === "Nothing" ||
      (left.kind === right.kind && left.kind !== "Tuple") ||
      (isNumber(left.kind) && isNumber(right.kind)) ||
      (isMoment(left) && isMoment(right));
    if (!fits) throw new Refusal(`Type mismatch in IN: ${typeName(left)} and ${typeName(right)}`, node);
  }

  /** The query on the right side of IN, also one that a name of WITH stands for. */
  function queryOf(node: ExprNode, scope: NameScope): Subquery | undefined {
    if (isQuery(node)) return scope.subquery(node);
    const [name] = node.node === "Field" && node.chain.length === 1 ? node.chain : [];
    const found = name === undefined ? undefined : scope.expressions.get(String(name));
    return found && isQuery(found) ? scope.subquery(found) : undefined;
  }

  function scalar(query: Subquery, node: At): HogQLTerm {
    const [column] = query.columns;
    if (!column || query.columns.length > 1) throw new Refusal("A query in an expression must have one column", node);
    const type = nullable(column.type);
    let value: HogQLValue | undefined;
    const read = (): HogQLValue => {
      if (value !== undefined) return value;
      const rows = query.rows();
      if (rows.length > 1) throw new Refusal("Scalar subquery returned more than one row", node);
      value = rows[0]?.[0] ?? null;
      return value;
    };
    return { op: "late", key: `query ${++numbers}`, type, value: read, at: at(node) };
  }

  const casts: Readonly<Record<string, string>> = {
    ...{ int: "toInt", integer: "toInt", bigint: "toInt", float: "toFloat", double: "toFloat", real: "toFloat" },
    ...{ string: "toString", text: "toString", varchar: "toString", boolean: "toBool", bool: "toBool" },
    ...{ date: "toDate", datetime: "toDateTime", timestamp: "toDateTime", uuid: "toUUID" },
  };

  function cast(of: ExprNode, name: string, node: At, scope: NameScope): HogQLTerm {
    const known = name.toLowerCase();
    const target = Object.hasOwn(casts, known) ? casts[known] : undefined;
    if (target === undefined)
      throw new Refusal(`Unsupported type cast to ${name}${didYouMean(known, Object.keys(casts))}`, node);
    return applied(target, [term(of, scope)], node);
  }

  return { term };
}

/** @throws Refusal in the service's words. Upstream posthog/hogql/functions/core.py. */
function checkCount(
  what: "Function" | "Aggregation",
  name: string,
  count: number,
  [least, most]: readonly [number, number],
  node: At,
  of = "argument",
): void {
  if (count >= least && count <= most) return;
  const [bound, words] =
    least === most ? [least, "expects"] : count < least ? [least, "expects at least"] : [most, "expects at most"];
  throw new Refusal(`${what} '${name}' ${words} ${bound} ${of}${bound === 1 ? "" : "s"}, found ${count}`, node);
}

/** The type of a column of several queries. @throws Refusal */
export function unionType(types: readonly Type[], name: string): Type {
  const type = commonType(types);
  if (!type)
    throw new Refusal(`The column ${name} of a UNION has types without a supertype: ${types.map(typeName).join(", ")}`);
  return type;
}
