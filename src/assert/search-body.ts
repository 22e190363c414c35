import { SimError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { allowKeys, wholeNumber } from "../http/control-body.ts";
import type { EventFilter } from "../journal/log/traffic-log.ts";
import { patternIn } from "./asked-pattern.ts";

const most = Number.MAX_SAFE_INTEGER;

function wordIn<T extends string>(body: JsonObject, key: string, words: readonly T[]): T | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  const found = words.find((it) => it === value);
  if (found !== undefined) return found;
  throw new SimError("invalid_input", `"${key}" must be one of ${words.join(", ")}`, { pointer: `/${key}` });
}

/** The keys of a filter that are there; absent ones do not restrict. */
function filterIn(body: JsonObject): EventFilter {
  const outcome = wordIn(body, "outcome", ["kept", "dropped"] as const);
  const order = wordIn(body, "order", ["asc", "desc"] as const);
  const numbers = (["project", "since", "until"] as const).flatMap((key) =>
    body[key] === undefined || body[key] === null
      ? []
      : [[key, wholeNumber(body, key, 0, { min: 0, max: most })] as const],
  );
  return { ...(outcome && { outcome }), ...(order && { order }), ...Object.fromEntries(numbers) };
}

/** What POST /__sim/events/search asks for. @throws SimError invalid_input */
export function searchBody(body: JsonObject, page: { defaultPage: number; largestPage: number }) {
  allowKeys(body, ["match", "project", "outcome", "since", "until", "order", "limit"]);
  const { match } = body;
  return {
    filter: filterIn(body),
    where: match === undefined || match === null ? undefined : patternIn(match, "/match"),
    limit: wholeNumber(body, "limit", page.defaultPage, { min: 1, max: page.largestPage }),
  };
}
