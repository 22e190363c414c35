import { route } from "../../app/location.ts";
import { hrefTo } from "../../app/route.ts";

/** Another event, seen as this one is. */
export const eventHref = (seq: number): string => hrefTo("events", [seq], route.value.params);

/** This event beside another one; beside the one of the same name before it, where none is named. */
export const compareHref = (seq: number, other?: number): string => {
  const { tab: _, ...params } = route.value.params;
  return hrefTo("events", [seq, "compare", ...(other === undefined ? [] : [other])], params);
};
