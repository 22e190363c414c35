/** `?a=1&b=2` of what is set; empty when nothing is. */
export function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
}
