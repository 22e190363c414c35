import { type Query, queryText } from "./call.ts";

interface PagedList {
  /** Below /__sim. */
  readonly path: string;
  readonly list: string;
  readonly pageSize: number;
}

/** The newest entries. A page may end early if much was searched; its `before` is where the next one starts. */
export async function newest<T>(
  get: (path: string) => Promise<unknown>,
  { path, list, pageSize }: PagedList,
  { limit, ...query }: Query & { limit: number },
): Promise<{ entries: T[]; more: boolean }> {
  const entries: T[] = [];
  for (let start: number | undefined; ; ) {
    const which = { ...query, before: start, limit: Math.min(limit - entries.length, pageSize) };
    const page = (await get(`${path}${queryText(which)}`)) as { before: number | null } & Record<string, T[]>;
    const { before, [list]: found = [] } = page;
    entries.push(...found);
    if (before === null || entries.length >= limit) return { entries: entries.slice(0, limit), more: before !== null };
    start = before;
  }
}
