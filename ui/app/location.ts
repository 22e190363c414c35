import { computed, signal } from "@preact/signals";
import { unlock } from "../api/call.ts";
import { hrefTo, numberIn, type Route, readRoute } from "./route.ts";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  // the inspector's link with a token, opened in this tab
  if (unlock(location.hash)) return;
  hash.value = location.hash;
});

/** The current route. */
export const route = computed<Route>(() => readRoute(hash.value));

/** Navigates; with `isReplacing`, without a new history entry. */
export function go(href: string, isReplacing = false): void {
  if (href === location.hash) return;
  if (isReplacing) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  hash.value = location.hash;
}

/** The selected project; undefined: all. */
export const project = computed<number | undefined>(() => numberIn(route.value.params.project));

/** Address of a place in the page, with the selected project. */
export const link = (
  view: string,
  path: readonly (string | number)[] = [],
  params: Readonly<Record<string, string | number | undefined>> = {},
): string => hrefTo(view, path, { project: project.value, ...params });

/** Address of the current place with other parameters; undefined removes one. */
export function withParams(changes: Readonly<Record<string, string | number | undefined>>): string {
  const { view, path, params } = route.value;
  return hrefTo(view, path, { ...params, ...changes });
}
