/** Rows in the order of their numbers, the newest at 0. */
interface Numbered {
  at(index: number): { readonly n: number } | undefined;
  indexOf(n: number): number;
}

/** The request some rows further down, or up; the first one where none is chosen; undefined at the ends. */
export function stepFrom(rows: Numbered, n: number | undefined, by: number): number | undefined {
  const place = n === undefined ? -1 : rows.indexOf(n);
  return place === -1 ? rows.at(0)?.n : rows.at(place + by)?.n;
}

/** Why requests in the list were rejected, each once, for completing a filter. */
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
