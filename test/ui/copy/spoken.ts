import type { JsonObject } from "../../../src/kernel/base/json.ts";
import type { SentItem } from "./hostile.ts";

/** An event that the SDKs have words of their own for, and the words. */
export interface Spoken {
  readonly item: SentItem;
  readonly node: string;
  readonly js: string;
  readonly python: string;
}

const said = (event: string, properties: JsonObject, calls: Omit<Spoken, "item">): [string, Spoken] => [
  event,
  { item: { event, distinct_id: "u1", properties }, ...calls },
];

export const spokenItems: readonly (readonly [string, Spoken])[] = [
  said(
    "$identify",
    { $anon_distinct_id: "anon", $set: { plan: "it's" }, $set_once: { from: "ad" } },
    {
      node: `identify({ distinctId: "u1", properties: { $set: { plan: "it's" }, $set_once: { from: "ad" }, $anon_distinct_id: "anon" } })`,
      js: `identify("u1", { plan: "it's" }, { from: "ad" })`,
      // it has no identify() since version 6
      python: `capture(distinct_id="u1", event="$identify", properties={"$set": {"plan": "it's"}, "$set_once": {"from": "ad"}, "$anon_distinct_id": "anon"})`,
    },
  ),
  said(
    "$set",
    { $set: { plan: "pro" } },
    {
      node: `setPersonProperties({ distinctId: "u1", properties: { plan: "pro" } })`,
      js: `setPersonProperties({ plan: "pro" })`,
      python: `set(distinct_id="u1", properties={"plan": "pro"})`,
    },
  ),
  said(
    "$set",
    { $set_once: { from: "ad" } },
    {
      node: `setPersonProperties({ distinctId: "u1", propertiesOnce: { from: "ad" } })`,
      js: `setPersonProperties({}, { from: "ad" })`,
      python: `capture(distinct_id="u1", event="$set", properties={"$set_once": {"from": "ad"}})`,
    },
  ),
  said(
    "$groupidentify",
    { $group_type: "company", $group_key: "acme", $group_set: { seats: 3 } },
    {
      node: `groupIdentify({ groupType: "company", groupKey: "acme", properties: { seats: 3 }, distinctId: "u1" })`,
      js: `group("company", "acme", { seats: 3 })`,
      python: `group_identify(group_type="company", group_key="acme", properties={"seats": 3}, distinct_id="u1")`,
    },
  ),
  said(
    "$create_alias",
    { alias: "u2" },
    {
      node: `alias({ distinctId: "u1", alias: "u2" })`,
      js: `alias("u2", "u1")`,
      python: `alias(previous_id="u1", distinct_id="u2")`,
    },
  ),
  said(
    "$set",
    { $unset: ["plan"] },
    {
      node: `capture({ distinctId: "u1", event: "$set", properties: { $unset: ["plan"] } })`,
      js: `capture("$set", { $unset: ["plan"] })`,
      python: `capture(distinct_id="u1", event="$set", properties={"$unset": ["plan"]})`,
    },
  ),
];
