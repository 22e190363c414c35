import { z } from "zod";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid } from "../../api-frame/fields.ts";
import { linkWith } from "../../api-frame/lists.ts";

export const FlagActivity = z
  .object({
    results: z.array(
      z.object({
        id: z.string(),
        user: z.object({ first_name: z.string(), email: z.string() }).nullable(),
        activity: z.enum(["created", "updated", "deleted", "restored"]),
        scope: z.literal("FeatureFlag"),
        item_id: z.string(),
        detail: z.object({
          id: z.null(),
          changes: z.array(
            z.object({
              type: z.literal("FeatureFlag"),
              action: z.enum(["created", "changed", "deleted"]),
              field: z.string(),
              before: z.json(),
              after: z.json(),
            }),
          ),
          merge: z.null(),
          trigger: z.null(),
          name: z.string(),
          short_id: z.null(),
          type: z.null(),
        }),
        created_at: z.string(),
      }),
    ),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    total_count: z.int(),
  })
  .meta({ title: "FlagActivity" });
type Entry = z.infer<typeof FlagActivity>["results"][number];

const activityLimit = 10;
/** Namespace of the ids of entries that no change wrote: that of RFC 4122 for OIDs. */
const createdEntries = "6ba7b812-9dad-11d1-80b4-00c04fd430c8";

function entriesOf({ worlds }: ResourceDesk, flag: FeatureFlag): Entry[] {
  const { history = [] } = flag;
  const first = history.flatMap((it) => it.changes).find(({ field }) => field === "key")?.before;
  const created = {
    id: uuidV5(createdEntries, `feature flag ${flag.id}`),
    ...{ activity: "created" as const, at: flag.created_at, user: flag.created_by, changes: [] },
    key: typeof first === "string" ? first : flag.key,
  };
  return [...history.toReversed(), created].map(({ id, activity, at, user: userId, key, changes }): Entry => {
    const user = userId === null ? undefined : worlds.get("users", userId);
    const shown = changes.map(({ field, before, after }) => ({
      type: "FeatureFlag" as const,
      action: before === null ? ("created" as const) : after === null ? ("deleted" as const) : ("changed" as const),
      ...{ field, before, after },
    }));
    return {
      ...{ id, activity, created_at: at, scope: "FeatureFlag", item_id: String(flag.id) },
      user: user ? { first_name: user.first_name, email: user.email } : null,
      detail: { id: null, changes: shown, merge: null, trigger: null, name: key, short_id: null, type: null },
    };
  });
}

export const activityQuery = z.object({
  limit: z.int().min(1).optional().describe("Number of entries per page (default: 10)"),
  page: z.int().min(1).optional().describe("The page, from 1"),
});

/** A number of at least 1. @throws SimError invalid_input */
function countOf({ query }: Call, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === undefined || text === null) return otherwise;
  if (!/^[+-]?\d{1,9}$/.test(text.trim())) throw invalid("A valid integer is required.", name);
  if (Number(text) >= 1) return Number(text);
  throw invalid("Ensure this value is greater than or equal to 1.", name);
}

/** A page of activity. Upstream posthog/models/activity_logging/activity_page.py. */
export function activityOf(
  desk: ResourceDesk,
  call: Call,
  flags: readonly FeatureFlag[],
): z.infer<typeof FlagActivity> {
  const limit = countOf(call, "limit", activityLimit);
  const page = countOf(call, "page", 1);
  const all = flags.flatMap((flag) => entriesOf(desk, flag));
  // stable: the changes of a flag stay in their order
  all.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const link = (to: number) => linkWith(call, { page: String(to), limit: String(limit) });
  return {
    results: all.slice((page - 1) * limit, page * limit),
    next: page * limit < all.length ? link(page + 1) : null,
    previous: page > 1 ? link(page - 1) : null,
    total_count: all.length,
  };
}
