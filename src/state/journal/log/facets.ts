import { crc32 } from "node:zlib";
import { dropReasons, warnings } from "../drop-reasons.ts";
import type { EventFacts } from "../event.ts";
import type { EventKey, TrafficLine } from "../traffic.ts";

/** A facet: facts of a request or event in the bits of one number; totals, problems and flag decisions need no lines. */

export const clearedProblem = 2 ** 30;

const asksBit = 1;
const usesBit = 2;
/** A request for flags, or one that carries an event about the use of a flag. */
export const flagBitsOfRequest = asksBit | usesBit;

export const flagUse = "$feature_flag_called";

const flagTarget = /^\/+(?:flags|decide)\/*(?:\?|$)/;

export function requestFacet(
  { method, target }: Pick<TrafficLine, "method" | "target">,
  keys: readonly EventKey[] | undefined,
): number {
  const asks = method === "POST" && flagTarget.test(target) ? asksBit : 0;
  return keys?.some((it) => it.event === flagUse) ? asks | usesBit : asks;
}

const reasonCodes = Object.keys(dropReasons);
const warningCodes = Object.keys(warnings);
const reasonMask = 63;
const firstWarning = 6;
/** The numbers of codes that another version wrote, among reasons and among warnings. */
const unknownReason = reasonMask;
const unknownWarning = 29 - firstWarning;
const otherCode = "other";

/** Changes with the codes: facets that were saved with other codes are not read. */
export const facetLayout = crc32([...reasonCodes, "/", ...warningCodes].join());

const places = (codes: readonly string[]): ReadonlyMap<string, number> => new Map(codes.map((code, i) => [code, i]));
const reasonPlaces = places(reasonCodes);
const warningPlaces = places(warningCodes);

const warningBit = (code: string): number => 1 << (firstWarning + (warningPlaces.get(code) ?? unknownWarning));
const warningBits = ((1 << (unknownWarning + 1)) - 1) << firstWarning;

const reasonNumber = (code: string): number => {
  const place = reasonPlaces.get(code);
  return place === undefined ? unknownReason : place + 1;
};

export function eventFacet({ dropped, warnings: codes }: Pick<EventFacts, "dropped" | "warnings">): number {
  let bits = dropped === undefined ? 0 : reasonNumber(dropped);
  if (codes) for (const code of codes) bits |= warningBit(code);
  return bits;
}

export const isWarnedFacet = (facet: number): boolean => (facet & warningBits) !== 0;

/** True if the event was dropped, or has a warning, and was not cleared. */
export const isProblemFacet = (facet: number): boolean =>
  (facet & (reasonMask | warningBits)) !== 0 && (facet & clearedProblem) === 0;

const noCodes: readonly string[] = [];
const namesByFacet = new Map<number, readonly string[]>();

export function codesOfFacet(facet: number): readonly string[] {
  const bits = facet & (reasonMask | warningBits);
  if (bits === 0) return noCodes;
  const known = namesByFacet.get(bits);
  if (known) return known;
  const reason = bits & reasonMask;
  const made = reason === 0 ? [] : [reasonCodes[reason - 1] ?? otherCode];
  for (const [place, code] of warningCodes.entries()) if (bits & (1 << (firstWarning + place))) made.push(code);
  if (bits & (1 << (firstWarning + unknownWarning))) made.push(otherCode);
  if (namesByFacet.size < 1_000) namesByFacet.set(bits, made);
  return made;
}

export function facetTestFor(code: string): ((facet: number) => boolean) | undefined {
  if (reasonPlaces.has(code)) {
    const wanted = reasonNumber(code);
    return (facet) => (facet & reasonMask) === wanted;
  }
  if (!warningPlaces.has(code)) return undefined;
  const bit = warningBit(code);
  return (facet) => (facet & bit) !== 0;
}
