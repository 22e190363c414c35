import { addressStep, unescaped } from "../../src/kernel/base/text.ts";
/** A place in the page: `#/events/12?f=is:dropped&project=2`. It contains the complete state of a view. */
export interface Route {
  /** The view's id; "" is the start page. */
  readonly view: string;
  /** Path after the view, decoded. */
  readonly path: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

/** A whole number from 1, e.g. of an event. */
export const numberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;

/** Parses a location's hash; an invalid one leads to the start page. */
export function readRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const mark = text.indexOf("?");
  const path = mark === -1 ? text : text.slice(0, mark);
  const [view = "", ...rest] = path.split("/").filter((it) => it !== "");
  const params = Object.fromEntries(new URLSearchParams(mark === -1 ? "" : text.slice(mark + 1)));
  return { view: unescaped(view), path: rest.map(unescaped), params };
}

/** The hash of a place in the page; undefined and empty parameters are left out. */
export function hrefTo(
  view: string,
  path: readonly (string | number)[] = [],
  params: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const steps = [view, ...path].map((it) => addressStep(it)).join("/");
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? `#/${steps}` : `#/${steps}?${new URLSearchParams(pairs)}`;
}
