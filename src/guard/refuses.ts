import { hostRuleFor, isLoopbackHost, type Place, readHostRule, serviceHosts } from "../kernel/host-rules.ts";
import type { GuardOptions } from "./types.ts";

/**
 * Tells whether a place is guarded.
 * @throws TypeError when a host cannot be read
 */
export function placeTest({ hosts = [], allow = [] }: GuardOptions): (place: Place) => boolean {
  const guarded = [...serviceHosts, ...hosts].map(readHostRule);
  const allowed = allow.map(readHostRule);
  return (place) =>
    hostRuleFor(guarded, place) !== undefined &&
    !isLoopbackHost(place.host) &&
    hostRuleFor(allowed, place) === undefined;
}
