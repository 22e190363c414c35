/** A request that looks like PostHog's, and went past the sim. */
export interface Escape {
  readonly method: string;
  /** Keys masked, except the public one. */
  readonly url: string;
  /** The page that sent it; "" where that is not known. */
  readonly page: string;
}

const linesShown = 20;

function tellTogether(escapes: readonly Escape[]): string[] {
  const counts = new Map<string, number>();
  for (const { method, url, page } of escapes) {
    const line = `  ${method} ${url}${page === "" ? "" : ` (from ${page})`}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} ×${count}`));
}

/** What to write into `hosts` for the first of them: host and the part of the path that is the proxy's own. */
function suggestion([first]: readonly Escape[]): string {
  if (first === undefined) return "";
  const { host, pathname } = new URL(first.url);
  const [, prefix = ""] = /^(\/[^/]+)\/./.exec(pathname) ?? [];
  const isOwn = /^\/(?:array|static|api|i)$/.test(prefix);
  return `${host}${isOwn ? "" : prefix}`;
}

/** Requests to PostHog went past the sim. */
export class EscapeError extends Error {
  readonly escapes: readonly Escape[];

  constructor(escapes: readonly Escape[]) {
    const lines = tellTogether(escapes);
    const rest = lines.length > linesShown ? [`  … and ${lines.length - linesShown} more`] : [];
    const head =
      escapes.length === 1
        ? "1 request looks like PostHog's, but went past the sim:"
        : `${escapes.length} requests look like PostHog's, but went past the sim:`;
    super(
      [
        head,
        ...lines.slice(0, linesShown),
        ...rest,
        `Reroute them with { hosts: ["${suggestion(escapes)}"] }, or let them be with { allowEscapes: true }.`,
      ].join("\n"),
    );
    this.name = "EscapeError";
    this.escapes = escapes;
  }
}

/**
 * Throws an error that has no frames: it is the page's doing, no line of a test's.
 * @throws EscapeError when there are any
 */
export function verifyEscapes(escapes: readonly Escape[]): void {
  if (escapes.length === 0) return;
  const error = new EscapeError([...escapes]);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
