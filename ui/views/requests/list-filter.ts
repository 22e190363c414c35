import { hasTerm, withoutTerm, withTerm } from "../../parts/filter-box/filter-text.ts";

export const chips = [
  { text: "Rejected", term: "is:rejected", note: "Rejected requests" },
  { text: "Unknown", term: "is:unmatched", note: "Requests to a path that is not emulated" },
  { text: "Faulted", term: "is:faulted", note: "Requests that a fault affected" },
  { text: "Slow", term: "ms:>100", note: "Responses that took more than 100 ms" },
] as const;

export const routes = [
  { text: "/batch", term: "route:/batch" },
  { text: "/e", term: "route:/e" },
  { text: "/i/v0/e", term: "route:/i/v0/e" },
  { text: "/capture", term: "route:/capture" },
  { text: "/flags", term: "route:/flags" },
  { text: "/decide", term: "route:/decide" },
  { text: "/s (recordings)", term: "route:/s" },
  { text: "/array, /static", term: "route:/array/*" },
  { text: "/api (management)", term: "route:/api/*" },
] as const;

/** The route of a filter, if it is one of the above, else "". */
export const routeIn = (filter: string): string => routes.find(({ term }) => hasTerm(filter, term))?.term ?? "";

/** The filter with another route; "" removes it. */
export function withRoute(filter: string, term: string): string {
  const rest = withoutTerm(filter, routeIn(filter));
  return term === "" ? rest : withTerm(rest, term);
}

/** Rows by index; 0 is the newest. */
interface Numbered {
  at(index: number): { readonly n: number } | undefined;
  indexOf(n: number): number;
}

/** The request `by` rows further; undefined at the ends. */
export function stepFrom(rows: Numbered, n: number | undefined, by: number): number | undefined {
  const place = n === undefined ? -1 : rows.indexOf(n);
  return place === -1 ? rows.at(0)?.n : rows.at(place + by)?.n;
}

/** Distinct rejection reasons in the list, for completion. */
export function reasonsIn(
  rows: { at(index: number): { readonly reason: string | null } | undefined },
  most = 2_000,
): string[] {
  const found = new Set<string>();
  for (let index = 0; index < most; index++) {
    const row = rows.at(index);
    if (!row) break;
    if (row.reason !== null) found.add(row.reason);
  }
  return [...found];
}
