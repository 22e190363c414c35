import type { Json } from "../../../kernel/base/json.ts";
import { calendarOf, readDate } from "../insights/dates.ts";
import { queryTest } from "../insights/filters.ts";
import type { QueryContext } from "../kind.ts";
import type { ExprNode, Located, SelectNode } from "./ast.ts";
import { placeOf } from "./placeholders.ts";
import { Refusal } from "./refusal.ts";
import { timeText } from "./time.ts";

/** The filters of a query, which stand where it has `{filters}`. */
export interface HogQLFilters {
  readonly dateRange?:
    | { readonly date_from?: string | null | undefined; readonly date_to?: string | null | undefined }
    | null
    | undefined;
  readonly properties?: Json | undefined;
  readonly filterTestAccounts?: boolean | null | undefined;
}

/** True if the rows of a query are those of the table of events. */
function readsEvents({ select_from: from, ctes }: SelectNode): boolean {
  const table = from?.table;
  const isEvents = table?.node === "Field" && table.chain.length === 1 && table.chain[0] === "events";
  return isEvents && !from?.next_join && !(ctes ?? []).some((it) => it.name === "events");
}

/** A date of the filters as a literal; undefined if it is not set. */
function dateNode(text: string | null | undefined, context: QueryContext, at: Located): ExprNode | undefined {
  if (text === undefined || text === null || text === "all") return undefined;
  const { wall } = readDate(text, { calendar: calendarOf(context) });
  const value: ExprNode = { node: "Constant", value: timeText(wall, 6), ...placeOf(at) };
  return { node: "Call", name: "toDateTime", args: [value], ...placeOf(at) };
}

/**
 * What `{filters}`, `{filters.dateRange.from}` and `{filters.dateRange.to}` stand for.
 * Upstream posthog/hogql/filters.py.
 * @throws Refusal where the query does not read events, and for other names
 */
export function filtersPlaceholder(
  filters: HogQLFilters | null | undefined,
  chain: readonly (string | number)[],
  at: Located,
  select: SelectNode,
  context: QueryContext,
): ExprNode | "no bound" {
  const from = () => dateNode(filters?.dateRange?.date_from, context, at);
  const to = () => dateNode(filters?.dateRange?.date_to, context, at);
  const name = chain.join(".");
  if (name === "filters.dateRange.from") return from() ?? "no bound";
  if (name === "filters.dateRange.to") return to() ?? "no bound";
  if (name !== "filters")
    throw new Refusal(
      `Unsupported filters placeholder \`{${name}}\`. Supported filters placeholders are: \`{filters}\`, \`{filters.dateRange.from}\`, \`{filters.dateRange.to}\`.`,
      at,
    );
  if (!readsEvents(select))
    throw new Refusal(
      "Cannot use 'filters' placeholder in a SELECT clause that does not select from the events table.",
      at,
    );
  const place = placeOf(at);
  const timestamp: ExprNode = { node: "Field", chain: ["timestamp"], ...place };
  const bound = (op: string, right: ExprNode | undefined): ExprNode[] =>
    right ? [{ node: "CompareOperation", op, left: timestamp, right, ...place }] : [];
  const exprs: ExprNode[] = [...bound("<", to()), ...bound(">=", from())];
  if (filters?.properties || filters?.filterTestAccounts)
    exprs.push({ node: "RowTest", test: queryTest(filters, context), text: "{filters}", ...place });
  const [first] = exprs;
  if (!first) return { node: "Constant", value: true, ...place };
  return exprs.length === 1 ? first : { node: "And", exprs, ...place };
}
