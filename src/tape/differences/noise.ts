import type { Json } from "../../kernel/json.ts";

/** Names of what differs between any two answers: ids, times, tokens, links. */
const volatileName =
  /^(?:id|uuid|.*_ids?|short_id|.*_at|timestamp|time|last_refresh|last_accessed.*|.*_timestamp|data_interval_(?:start|end)|requestId|request_id|evaluatedAt|evaluated_at|next|previous|.*token|etag|nonce|instance_id|log_source_id|cursor|api_key|secret_api_token.*|timezone_offset)$/;
/** Of them those that say something where they stand. */
const tellingName = /^distinct_ids?$/;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const moment = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const placeholder = /\{\{[\w-]+:[^{}]*\}\}|\bph[a-z]_|\*{3}/;

const texts: readonly ((text: string) => boolean)[] = [
  (it) => uuid.test(it),
  (it) => moment.test(it),
  (it) => URL.canParse(it),
];

/** Does the name alone say that its value is another one each time? */
export const isVolatileName = (key: string): boolean => volatileName.test(key) && !tellingName.test(key);

/** Do the values differ only as any two of their kind do, or was one taken away before it was written? */
export function isNoise(recorded: Json, own: Json): boolean {
  if (typeof recorded === "string" && placeholder.test(recorded)) return true;
  if (typeof recorded !== "string" || typeof own !== "string") return false;
  return texts.some((matches) => matches(recorded) && matches(own));
}

/** `res.body.x[].y` and `body.x[].y` alike; a path is noise with all that is below it. */
export function noiseTest(noise: readonly string[]): (path: string) => boolean {
  const paths = new Set(noise.map((it) => it.replace(/^res\./, "").replaceAll(/\[\d+\]/g, "[]")));
  if (paths.size === 0) return () => false;
  return (path) => startsOf(path).some((it) => paths.has(it));
}

/** `a`, `a.b`, `a.b[]` for `a.b[]`. */
function startsOf(path: string): string[] {
  const ends = [...path.matchAll(/\.|\[\]/g)].map(({ index }) => index);
  return [...ends.map((end) => path.slice(0, end)), path];
}
