import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { parseExpression, parseQuery } from "../../../../src/service/query/hogql/grammar/queries.ts";
import { Refusal } from "../../../../src/service/query/hogql/refusal.ts";
import { plainTree, type VendorParser, vendorParser } from "./vendor.ts";

let vendor: VendorParser;
beforeAll(async () => {
  vendor = await vendorParser();
});

const ours = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return plainTree(parse(text));
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
};

/** Places where the binding of operators, names that are keywords, and forms of queries can go wrong. */
const expressions = `
  not(x) | not (x) and y | not x = 1 | a = not b and c | a * not b = c | a or b between 1 and 2 | not (a) = b
  a between 1 and 2 and c | not a between 1 and 2 | a = b between 1 and 2 | a between 1 and 2 = c | a between b = c and d
  a ? b : c ? d : e | a or b ? c : d | a ? b ? c : d : e | a ?? b = c | a = b ?? c | a and b ?? c | a ?? b between 1 and 2
  a is null = b | a = b is null | not a is null | a is not null and b | - a is null | -a.b | -a * b | - 1 | 1 -1 | a - -1
  -(1) | - -a | a - b - c | a / b * c | a = b = c | a in b in c | a in (1, 2) = b | a like 'x' || 'y' | a || b || c
  a as b | a + b as c | (a as b) + 1 | f(a as b) | x -> y -> x | (x, y) -> x | f((x) -> x, y) | if(a, b, c) | left(a, 1)
  and(a, b) | in(a, b) | case(a) | date | date('a') | interval 1 day + a | a - interval 1 day - b | interval '2 hours'
  interval (1) day | interval a.b day | day | year(a) | a.from.to | a.1.b | a.1.2 | a[1].b | a['b'].c[1] | f(a).1 | f(a).b
  (a, b).1 | a?.b | a?.[1] | 1.5.1 | 1. | .5 | 1e5 | 0x10 | 010 | 0b11 | 'a\\'b' | 'a''b' | "a" | \`a\`\`b\` | True | inf
  a::int + 1 | -a::int | cast(a as String) | try_cast(a as int) | a <> b | a ~ b | a !~* b | a not in b | a not like b
  {a.b} | count(*) | count(distinct a, b) | f(a)(distinct b) | sum(a) filter (where b) | f(a,) | [1,] | (1,) | ((a))
  (select 1) | a in (select 1) | a.b.* | trim(both 'x' from a) | trim(leading 'x' from a) | a /* c */ + b | a -- c
  sum(a) over () | f(a)(b) over (partition by a, b order by c desc) + 1 | f() over (order by a rows 1 preceding) | over(a)
  f() over (order by a range between unbounded preceding and current row) | f() over (rows between 2 following and 3 following)
  (a).b | (a.b).c | a and (b and c) | (a or b) or c | case when a then b end | case (a) when 1 then 2 end | true.a
  case when a then case when b then c end end | case -a when 1 then 2 else 3 end | array[1] | exists(select 1) | a.$b
  lower(a) in ('x') and not f(b) | a not between 1 and 2 | [a as b] | {a} + 1 | a.\`b c\` | f()(b) | -1.5 | distinct(a)
`;
const queries = [
  "select a b, c as d from e f",
  "select a date from (select 1) as x",
  "select a, from b",
  "select distinct a.*, * from b.c",
  "select a from b prewhere c where d group by e, f having g order by h desc, i limit 1 offset 2",
  "select a from b limit 1, 2",
  "select a from b limit 1 offset 2 by c limit 5",
  "select a from b limit 1, 2 by c",
  "select 1 union all select 2 union distinct (select 3 union all select 4)",
  "((select 1)) union all (select 2)",
  "with a as (select 1), 2 as b, (select 3) as c select * from a",
  "with a as b select 1 where c in (select d from e)",
  "select a from ((select 1) union all (select 2)) x",
  "select a from b left join c on x = y cross join d",
  "select a from {x} where {filters}",
  "select 1;",
  "select a from b array join c as d, [1] as e where f",
  "select a from b c left join d on e = f left array join g as h",
  "select rank() over w as r from a group by b having c window w as (order by d), v as (partition by e) order by r",
];

describe("the grammar", () => {
  test("trees are those of the service's parser", () => {
    const texts = expressions.split(/ \| |\n/).map((it) => it.trim());
    for (const text of texts.filter((it) => it !== "")) {
      const theirs = vendor.expression(text);
      expect({ text, tree: ours(parseExpression, text) }).toEqual({ text, tree: plainTree(theirs) });
    }
    for (const text of queries) {
      const theirs = vendor.query(text);
      const tree = ours(parseQuery, text);
      expect({ text, tree }).toEqual({ text, tree: plainTree(theirs) });
    }
  });

  test("so are those of random expressions", () => {
    const name = fc.constantFrom(
      ..."a | b.c | properties.$x | date | `x y` | 1 | 2.5 | 's' | null | true | [1]".split(" | "),
    );
    const operator = fc.constantFrom(..."+ - * / % || = != < >= and or in not_in like not_ilike =~ ??".split(" "));
    // The vendor's time grows exponentially with the depth.
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 2, depthSize: "small", withCrossShrink: true },
        name,
        fc
          .tuple(tie("expression"), operator, tie("expression"))
          .map(([a, by, b]) => `${a} ${by.replace("_", " ")} ${b}`),
        tie("expression").map((it) => `not ${it}`),
        tie("expression").map((it) => `-${it}`),
        tie("expression").map((it) => `(${it})`),
        tie("expression").map((it) => `f(${it})`),
        tie("expression").map((it) => `${it} is not null`),
        fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `${a} between ${b} and 3`),
        fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `${a} ? ${b} : 1`),
        fc.tuple(name, name).map(([a, b]) => `case when ${a} then ${b} end`),
      ),
    }));
    fc.assert(
      fc.property(expression, (text) => {
        const theirs = vendor.expression(text);
        const tree = ours(parseExpression, text);
        if (theirs === undefined) expect(typeof tree).toBe("string");
        else expect(tree).toEqual(plainTree(theirs));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
    );
  });

  test("any text is read or refused", () => {
    const words = "select from where group by ( ) [ ] { } , . ' a 1 = - -> case when then end interval day not in as";
    const part = fc.constantFrom(...words.split(" "), "union all", "with", "?", ":", "::", "*");
    const text = fc.oneof(
      fc.array(part, { maxLength: 30 }).map((it) => it.join(" ")),
      fc.string({ unit: "grapheme", maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, (it) => {
        expect(["object", "string"]).toContain(typeof ours(parseQuery, it));
        expect(["object", "string"]).toContain(typeof ours(parseExpression, it));
      }),
      { numRuns: 2000 },
    );
  });

  test("nesting and length have a limit", () => {
    const nested = (open: string, close: string, count: number) => `${open.repeat(count)}1${close.repeat(count)}`;
    expect(ours(parseExpression, nested("f(", ")", 30))).toBeTypeOf("object");
    const opened = { "f(": ")", "(": ")", "[": "]", "not ": "", "- ": "", "case when a then ": " end", "{": "}" };
    for (const [open, close] of Object.entries(opened))
      expect(ours(parseExpression, nested(open, close, 2_000))).toBe("The query is nested deeper than 200 levels");
    expect(ours(parseQuery, nested("select * from (", ")", 2_000))).toBe("The query is nested deeper than 200 levels");
    expect(ours(parseExpression, `a${" + a".repeat(2_000)}`)).toBe("The query is nested too deeply");
    expect(ours(parseExpression, `a${" and a".repeat(2_000)}`)).toBeTypeOf("object");
    expect(ours(parseExpression, `a${" + a".repeat(100_000)}`)).toBe("The query is longer than 100000 characters");
  });
});
