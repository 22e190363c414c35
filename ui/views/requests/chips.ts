import { hasTerm, withoutTerm, withTerm } from "../../parts/filter-box/terms.ts";

/** Terms that are added to a filter, or taken out of it, by one click. */
export const chips = [
  { text: "Rejected", term: "is:rejected", note: "Requests that were rejected whole" },
  { text: "Unknown", term: "is:unmatched", note: "Requests to a path that is not emulated" },
  { text: "Faulted", term: "is:faulted", note: "Requests that a fault touched" },
  { text: "Slow", term: "ms:>100", note: "Answers that took more than 100 ms" },
] as const;

/** Paths that SDKs and apps ask for, as terms of a filter. */
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

/** The route that a filter asks for by one of the terms above; "" when it is none of them. */
export const routeIn = (filter: string): string =>
  routes.find(({ term }) => hasTerm(filter, term))?.term ?? "";

/** The filter with this route in the place of another one; "" takes it out. */
export function withRoute(filter: string, term: string): string {
  const rest = withoutTerm(filter, routeIn(filter));
  return term === "" ? rest : withTerm(rest, term);
}
