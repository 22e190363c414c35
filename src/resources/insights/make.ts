import type { Ids } from "../../kernel/ids.ts";
import { blankInsight } from "../../model/blank.ts";
import type { Draft, Insight } from "../../model/world.ts";

/** Who makes documents, where and when. */
export interface Maker {
  readonly draft: Draft;
  readonly ids: Ids;
  readonly project: number;
  readonly user: number;
  /** Wire time. */
  readonly now: string;
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 8 letters and digits, as in the app's links, out of the random end of a UUID. */
function shortId(ids: Ids): string {
  let rest = BigInt(`0x${ids.uuid().replaceAll("-", "").slice(16)}`);
  let text = "";
  for (let i = 0; i < 8; i++) {
    text += alphabet[Number(rest % 62n)] ?? "";
    rest /= 62n;
  }
  return text;
}

/** Adds an insight of the maker. */
export const makeInsight = ({ draft, ids, project, user, now }: Maker, fields: Partial<Insight>): Insight =>
  draft.put(
    "insights",
    blankInsight(
      {
        created_by: user,
        last_modified_by: user,
        ...fields,
        id: draft.nextId("insights"),
        short_id: shortId(ids),
        project,
      },
      now,
    ),
  );

/** Adds a copy of an insight. */
export const copyInsight = (maker: Maker, { name, ...insight }: Insight): Insight =>
  makeInsight(maker, {
    name: name === null || name === "" ? null : `${name} (Copy)`,
    derived_name: insight.derived_name,
    description: insight.description,
    query: insight.query,
    filters: insight.filters,
    tags: insight.tags,
    favorited: insight.favorited,
    saved: insight.saved,
  });
