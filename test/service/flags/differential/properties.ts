import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { fc } from "../../../support/chance.ts";

type Filters = readonly (readonly [operators: readonly string[], expected: readonly Json[]])[];

/** A property as filters ask for it: the values that subjects have, and what they are compared with. */
interface Family {
  readonly key: string;
  readonly values: readonly Json[];
  readonly filters: Filters;
  /** On what the sides are known to differ; drawn seldom. */
  readonly odd: { readonly values: readonly Json[]; readonly filters: Filters };
}

const equality = ["exact", "is_not"];
const textOperators = [
  ...equality,
  ...["icontains", "not_icontains", "starts_with", "not_starts_with", "ends_with", "not_ends_with"],
];
const patterns = ["regex", "not_regex"];
const multiples = ["icontains_multi", "not_icontains_multi"];
const ranges = ["between", "not_between"];
const setOperators = ["is_set", "is_not_set"];
const numberOperators = ["gt", "gte", "lt", "lte"];
const dateOperators = ["is_date_before", "is_date_after"];
const versionOperators = ["semver_eq", "semver_neq", "semver_gt", "semver_gte", "semver_lt", "semver_lte"];
const rangeOperators = ["semver_tilde", "semver_caret"];

const families: readonly Family[] = [
  {
    key: "plan",
    values: ["pro", "Pro", "free", "enterprise", "straße", "ЗАКАЗ", "プロ", "", "pro-2024\n", "null"],
    filters: [
      [textOperators, ["pro", "PRO", "free", "e", "straße", "заказ", "", "プロ", "null"]],
      [equality, [["pro", "FREE"], ["x"], [], ["enterprise", 0.5]]],
      [patterns, ["^pro", "^(pro|free)$", "[a-z]{4}", "\\d+$", "r.*o", "^$", "(", "", "(?:e|f)r"]],
      [setOperators, ["is_set"]],
    ],
    odd: {
      values: ["free\r\n"],
      filters: [
        [patterns, ["(?i)^PRO", "e(?=n)", "ß", "o\\b", "[[:alpha:]]+", "\\p{L}"]],
        [multiples, [["pr", "fr"], ["zzz"], "pro"]],
        [["resembles"], ["pro"]],
      ],
    },
  },
  {
    key: "seats",
    values: [12.5, 0.5, "12.5", "99", 100, -3, 0, 1e21, "1e2"],
    filters: [
      [numberOperators, [12.5, "12.5", 50, "50", 0, -1.5, "1e2", 12]],
      [equality, ["99", "12.5", ["99", "1e2"]]],
    ],
    odd: {
      values: ["twelve", "12 seats", " 7 ", "inf"],
      filters: [
        [numberOperators, ["many", "12 seats"]],
        [
          ranges,
          [
            [0, 50],
            [50, 0],
            ["1", "100"],
          ],
        ],
        [equality, [12.5, 0.5, [0.5, "99"], "100", 100]],
        [
          ["regex", "icontains", "ends_with"],
          ["5", "0", "12"],
        ],
      ],
    },
  },
  {
    key: "joined",
    values: [
      "2024-01-15T10:00:00Z",
      "2026-03-01T00:00:00+02:00",
      "2026-02-28",
      "2024-02-29",
      "2019-12-31",
      "2025-12-31T23:59:59.5Z",
      "2026-01-15T10:00:00.250-08:00",
      "2023-02-28T23:40:00Z",
      "2025-03-01T00:00:00Z",
    ],
    filters: [
      [dateOperators, ["2026-01-01", "2024-01-15T10:00:00Z", "2024-02-29", "2024-01-15 07:00:00", "2025-12-31T23:59"]],
      [dateOperators, ["-3d", "-30d", "12h", "-2w", "7w", "0d"]],
      [dateOperators, ["-1m", "-13m", "-1y", "-6y", "2y"]],
    ],
    odd: {
      values: ["2026-01-15 10:00:00", "2026-01-15T10:00", "2024", "-3d", "someday"].concat(["1700000000", "20260105"]),
      filters: [
        [dateOperators, ["-99999d", "-3q", "March 3, 2025", "whenever", 1_700_000_000, true]],
        [["is_date_exact"], ["2024-01-15T10:00:00Z", "2026-02-28"]],
      ],
    },
  },
  {
    key: "renewed",
    values: ["2026-01-04", "2026-03-02", "Jan 5, 2026", "2026-02-30"],
    filters: [],
    odd: {
      values: ["5 Jan 2026"],
      filters: [
        [dateOperators, ["2026-01-05T06:00:00Z"]],
        [dateOperators, ["2026-02-28", "2026-03-03"]],
      ],
    },
  },
  {
    key: "ratio",
    values: [0.000005, 0.25, 0.000025],
    filters: [],
    odd: {
      values: [1e-7],
      filters: [
        [
          ["exact", "is_not", "icontains"],
          ["0.000005", "5e-6", "0.25", "e"],
        ],
      ],
    },
  },
  {
    key: "app",
    values: ["1.2.3", "1.2.10", "v1.2.3", "2.0.0", "1.2", "1", "0.0.3", "0.4.1", "1.10.0", "10.0.1"],
    filters: [
      [versionOperators, ["1.2.3", "1.2", "1", "v1.2.3", "2.0.0", "0.4.1", "1.10.0"]],
      [rangeOperators, ["1.2.3", "1.2", "1", "0.4.0", "0.0.3", "0", "0.4"]],
      [["semver_wildcard"], ["1.*", "1.2.*", "0.*", "0.4.*"]],
    ],
    odd: {
      values: ["1.2.3-beta.1", "1.2.3+b", "01.2.3", "1.2.3.4", "banana", "V1.2.3", " 1.2.3 ", 1.5],
      filters: [
        [versionOperators, ["1.2.3-beta.2", "1.02.3", "x"]],
        [rangeOperators, ["1.2.3-alpha", "nope"]],
        [["semver_wildcard"], ["*", "1.x", "1.*.3"]],
        [["semver_wildcard"], ["1.2.3", "1.2", "1"]],
      ],
    },
  },
  {
    key: "trial",
    values: [true, false, "true", "False", "yes", 0.5],
    filters: [
      [equality, [true, false, "true", "FALSE", [true], ["true", "false"], [true, "yes"], []]],
      [setOperators, [null]],
      [["icontains"], ["tru", "e"]],
    ],
    odd: { values: [0, 1, ["true"], []], filters: [[["exact"], [null, 1, { a: true }]]] },
  },
  {
    key: "tags",
    values: [["a", "b"], ["true"], [], { b: "x", a: "y" }, [0.5]],
    filters: [[equality, [["a", "b"], '["a","b"]', '{"a":"y","b":"x"}', true, [["a", "b"]], "a,b"]]],
    odd: {
      values: [{ a: 1 }, ["a", 1], { é: "", "\u{1f600}": "", z: "" }],
      filters: [
        [
          ["icontains", "not_icontains", "starts_with", "regex", "not_regex"],
          ["a", "[", "b", '"a"'],
        ],
      ],
    },
  },
  {
    key: "constructor",
    values: ["Ada", "Grace"],
    filters: [
      [
        ["exact", "is_not", ...setOperators, "ends_with"],
        ["Ada", "grace", "a"],
      ],
    ],
    odd: { values: [""], filters: [[["is_not"], [null]]] },
  },
];

const valuesIn = ({ values, odd }: Family): readonly Json[] => [...values, ...odd.values];
const filtersIn = ({ filters, odd }: Family): Filters => [...filters, ...odd.filters];

const allFilters = families.flatMap(filtersIn);
const anyValue = fc.constantFrom<Json>(null, ...families.flatMap(valuesIn));
const anyOperator = fc.constantFrom(...new Set(allFilters.flatMap(([operators]) => operators)));
const anyExpected = fc.constantFrom<Json>(null, ...allFilters.flatMap(([, expected]) => expected));
const anyKey = fc.constantFrom(...families.map(({ key }) => key), "$device_id");

const among = (filtersOf: (family: Family) => Filters): fc.Arbitrary<JsonObject> =>
  fc
    .constantFrom(...families.flatMap((family) => filtersOf(family).map((filter) => [family.key, filter] as const)))
    .chain(([key, [operators, expected]]) =>
      fc.record({
        key: fc.constant(key),
        operator: fc.constantFrom(...operators),
        value: fc.constantFrom<Json>(...expected),
      }),
    );

/** Any operator with any value on any property. */
const mixed: fc.Arbitrary<JsonObject> = fc.record({ key: anyKey, operator: anyOperator, value: anyExpected });

/** Without an operator, which is `exact`; on the id, which no one has to pass in. */
const bare: fc.Arbitrary<JsonObject> = fc.record({
  key: fc.constantFrom("plan", "distinct_id"),
  value: fc.constantFrom<Json>("pro", ["free", "pro"], "42"),
});

/** One on which the sides are known to differ for some values. */
export const oddFilters: fc.Arbitrary<JsonObject> = among(({ odd }) => odd.filters);

/** A filter on a property, without its type. */
export const propertyFilters: fc.Arbitrary<JsonObject> = fc.oneof(
  { arbitrary: among(({ filters }) => filters), weight: 40 },
  { arbitrary: oddFilters, weight: 2 },
  { arbitrary: mixed, weight: 2 },
  { arbitrary: bare, weight: 2 },
);

const absent = Symbol("absent");

const valueLike = (family: Family): fc.Arbitrary<Json | typeof absent> =>
  fc.oneof(
    { arbitrary: fc.constantFrom<Json>(...family.values), weight: 100 },
    { arbitrary: fc.constantFrom<Json>(...family.odd.values), weight: 8 },
    { arbitrary: fc.constant(absent), weight: 3 },
    { arbitrary: fc.constant(null), weight: 3 },
    { arbitrary: anyValue, weight: 2 },
  );

/** The properties of a person or a group. */
export const properties: fc.Arbitrary<JsonObject> = fc.tuple(...families.map(valueLike)).map((values) =>
  Object.fromEntries(
    families.flatMap(({ key }, i) => {
      const value = values[i];
      return value === absent || value === undefined ? [] : [[key, value]];
    }),
  ),
);
