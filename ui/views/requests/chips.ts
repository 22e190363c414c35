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

/** The terms of a filter at its top: what is in quotes or brackets stays whole. */
export function termsOf(filter: string): string[] {
  const found: string[] = [];
  let [depth, isQuoted, term] = [0, false, ""];
  const end = () => {
    if (term !== "") found.push(term);
    term = "";
  };
  for (let i = 0; i < filter.length; i++) {
    const c = filter[i] ?? "";
    if (isQuoted && c === "\\") term += c + (filter[++i] ?? "");
    else if (!isQuoted && depth === 0 && /\s/.test(c)) end();
    else {
      if (c === '"') isQuoted = !isQuoted;
      else if (!isQuoted && c === "(") depth++;
      else if (!isQuoted && c === ")") depth = Math.max(0, depth - 1);
      term += c;
    }
  }
  end();
  return found;
}

export const hasTerm = (filter: string, term: string): boolean => termsOf(filter).includes(term);

/** The filter without a term. */
const withoutTerm = (filter: string, term: string): string =>
  termsOf(filter)
    .filter((it) => it !== term)
    .join(" ");

/** The filter with a term besides all that it asks for. */
function withTerm(filter: string, term: string): string {
  const terms = termsOf(filter);
  if (terms.length === 0) return term;
  const rest = terms.join(" ");
  return terms.some((it) => /^or$/i.test(it)) ? `(${rest}) ${term}` : `${rest} ${term}`;
}

export const toggled = (filter: string, term: string): string =>
  hasTerm(filter, term) ? withoutTerm(filter, term) : withTerm(filter, term);

/** The route that a filter asks for by one of the terms above; "" when it is none of them. */
export const routeIn = (filter: string): string =>
  routes.find(({ term }) => hasTerm(filter, term))?.term ?? "";

/** The filter with this route in the place of another one; "" takes it out. */
export function withRoute(filter: string, term: string): string {
  const rest = withoutTerm(filter, routeIn(filter));
  return term === "" ? rest : withTerm(rest, term);
}
