/** Where in the page one is: `#/events/12?f=is:dropped&project=2`. Every state of a view is in it. */
export interface Route {
  /** The view's id; "" is the first page. */
  readonly view: string;
  /** What follows the view, decoded. */
  readonly path: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads a location's hash; one that is no route is the first page. */
export function readRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const mark = text.indexOf("?");
  const path = mark === -1 ? text : text.slice(0, mark);
  const [view = "", ...rest] = path.split("/").filter((it) => it !== "");
  const params = Object.fromEntries(new URLSearchParams(mark === -1 ? "" : text.slice(mark + 1)));
  return { view: decoded(view), path: rest.map(decoded), params };
}

/** The hash of a place in the page, for `href`. Parameters that are undefined or empty are left out. */
export function hrefTo(
  view: string,
  path: readonly (string | number)[] = [],
  params: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const steps = [view, ...path].map((it) => encodeURIComponent(it)).join("/");
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? `#/${steps}` : `#/${steps}?${new URLSearchParams(pairs)}`;
}
