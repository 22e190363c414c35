import { computed, signal } from "@preact/signals";
import { unlock } from "../api/call.ts";
import { hrefTo, type Route, readRoute } from "./route.ts";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  // the inspector's link, opened where the page is open already
  if (unlock(location.hash)) return;
  hash.value = location.hash;
});

/** Where the page is now. */
export const route = computed<Route>(() => readRoute(hash.value));

/** Goes somewhere; `isReplacing` leaves no step in the history. */
export function go(href: string, isReplacing = false): void {
  if (href === location.hash) return;
  if (isReplacing) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  hash.value = location.hash;
}

/** The project that everything is restricted to; undefined: all. */
export const project = computed<number | undefined>(() => {
  const given = Number(route.value.params.project);
  return Number.isSafeInteger(given) && given > 0 ? given : undefined;
});

/** A place in the page, in the same project. */
export const link = (
  view: string,
  path: readonly (string | number)[] = [],
  params: Readonly<Record<string, string | number | undefined>> = {},
): string => hrefTo(view, path, { project: project.value, ...params });

/** The same place with other parameters; undefined takes one away. */
export function withParams(changes: Readonly<Record<string, string | number | undefined>>): string {
  const { view, path, params } = route.value;
  return hrefTo(view, path, { ...params, ...changes });
}
