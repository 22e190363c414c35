import type { Json } from "../kernel/json.ts";
import type { Dialect } from "../model/dialect.ts";
import type { DropReason } from "../model/outcome.ts";
import type { Item } from "./item.ts";

/** The longest group key, in characters. */
const maxGroupKey = 400;

/** Two ids named by an event: `other` is to go into `into`. */
export interface MergeWish {
  other: string;
  into: string;
  forced: boolean;
}

/** What the service does besides with events of certain names. */
export interface SpecialEvent {
  /** Why the event is dropped before it has any effect. */
  refuse(item: Item): DropReason | undefined;
  merge?(item: Item, dialect: Dialect): MergeWish | undefined;
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Person events cannot be personless. */
const refusePersonless = (item: Item): DropReason | undefined =>
  item.processPerson === false ? "invalid_event_when_process_person_profile_is_false" : undefined;

const refuseUnlessText =
  (name: string, reason: DropReason) =>
  (item: Item): DropReason | undefined => {
    const value = item.properties[name];
    return refusePersonless(item) ?? (isAbsent(value) || typeof value === "string" ? undefined : reason);
  };

const refuseAlias = refuseUnlessText("alias", "invalid_alias");

/** `alias` goes into the distinct_id, in the live service. */
function aliasIntoId(item: Item, forced: boolean): MergeWish | undefined {
  const { alias } = item.properties;
  return typeof alias === "string" && alias !== ""
    ? { other: alias, into: item.distinct_id, forced }
    : undefined;
}

/** Dialect row alias_direction: the contract makes `alias` the main id. */
function createAlias(item: Item, dialect: Dialect): MergeWish | undefined {
  const wish = aliasIntoId(item, false);
  if (wish === undefined || dialect === "production") return wish;
  return { other: wish.into, into: wish.other, forced: false };
}

function identify(item: Item): MergeWish | undefined {
  const other = item.properties.$anon_distinct_id;
  return typeof other === "string" ? { other, into: item.distinct_id, forced: false } : undefined;
}

const characters = (value: Json | undefined): number => (typeof value === "string" ? [...value].length : 0);

const refuseGroup = (item: Item): DropReason | undefined => {
  const { $group_key } = item.properties;
  const isLong = typeof $group_key === "string" && $group_key.length > maxGroupKey;
  const tooLong = isLong && characters($group_key) > maxGroupKey;
  return refusePersonless(item) ?? (tooLong ? "group_key_too_long" : undefined);
};

/** Upstream person-merge-service.ts and the validation steps of the event pipeline. */
export const specialEvents: ReadonlyMap<string, SpecialEvent> = new Map<string, SpecialEvent>([
  [
    "$identify",
    { refuse: refuseUnlessText("$anon_distinct_id", "invalid_anon_distinct_id"), merge: identify },
  ],
  ["$create_alias", { refuse: refuseAlias, merge: createAlias }],
  ["$merge_dangerously", { refuse: refuseAlias, merge: (item) => aliasIntoId(item, true) }],
  ["$groupidentify", { refuse: refuseGroup }],
]);
