import { uuidV5 } from "../base/ids.ts";

/** Placeholders, in any case. Upstream person-merge-service.ts. */
const anyCase = new Set(
  "anonymous guest distinctid distinct_id id not_authenticated email undefined true false".split(" "),
);

/** Placeholders as they are spelled here. */
const exactCase = new Set(["[object Object]", "NaN", "None", "none", "null", "0"]);

const unquoted = (id: string): string => {
  const quote = id[0];
  const isQuoted = id.length >= 2 && (quote === "'" || quote === '"') && id.endsWith(quote);
  return isQuoted ? id.slice(1, -1) : id;
};

/** Would the service refuse to merge with this id? */
export function isIllegalForMerge(id: string): boolean {
  const bare = unquoted(id);
  return bare.trim() === "" || exactCase.has(bare) || anyCase.has(bare.toLowerCase());
}

/** Ids whose events capture v1 takes without a person, in any case. Upstream v1/analytics/constants.rs. */
const personless = new Set([
  ..."0 anonymous anonymous-user backend distinct_id distinctid email false guest id nan none".split(" "),
  ..."not_authenticated null system true undefined user".split(" "),
  "00000000-0000-0000-0000-000000000000",
  "[object object]",
]);

/** Is it a placeholder for which capture v1 makes no person? */
export const isPlaceholder = (id: string): boolean => id.length <= 36 && personless.has(id.toLowerCase());

/** The namespace of person ids. Upstream person-uuid.ts. */
const namespace = "932979b4-65c3-4424-8467-0b66ec27bc22";

/** The uuid that a person made for this id gets; also the uuid of personless events with it. */
export const personUuid = (project: number, distinctId: string): string =>
  uuidV5(namespace, `${project}:${distinctId}`);
