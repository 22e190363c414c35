/** Placeholders, in any case. Upstream person-merge-service.ts. */
const anyCase = new Set(
  "anonymous guest distinctid distinct_id id not_authenticated email undefined true false".split(" "),
);

const exactCase = new Set(["[object Object]", "NaN", "None", "none", "null", "0"]);

const unquoted = (id: string): string => {
  const quote = id[0];
  const isQuoted = id.length >= 2 && (quote === "'" || quote === '"') && id.endsWith(quote);
  return isQuoted ? id.slice(1, -1) : id;
};

export function isIllegalForMerge(id: string): boolean {
  const bare = unquoted(id);
  return bare.trim() === "" || exactCase.has(bare) || anyCase.has(bare.toLowerCase());
}

/** Ids for which capture v1 creates no person, in any case. Upstream v1/analytics/constants.rs. */
const personless = new Set([
  ..."0 anonymous anonymous-user backend distinct_id distinctid email false guest id nan none".split(" "),
  ..."not_authenticated null system true undefined user".split(" "),
  "00000000-0000-0000-0000-000000000000",
  "[object object]",
]);

export const isPlaceholder = (id: string): boolean => id.length <= 36 && personless.has(id.toLowerCase());
