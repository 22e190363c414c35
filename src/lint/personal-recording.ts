import { decodePart } from "../sessions/decode.ts";
import { textsOfPart } from "../sessions/search.ts";
import { sensitiveIn } from "./personal-data.ts";
import type { Rule } from "./rule.ts";

/** Limits of the search in one part: characters after decompression, and texts. */
const most = { characters: 2 * 1024 * 1024, texts: 5_000 };

/** `pii_in_recording`; it reports the place, never the value. */
export const personalRecording = (): Rule => ({
  examine({ recorded }, { report }) {
    for (const { seq, items } of recorded) {
      let left = most.texts;
      for (const { place, text, element } of textsOfPart(decodePart(items, most.characters).events)) {
        if (left-- <= 0) break;
        const what = sensitiveIn(text);
        if (what === undefined) continue;
        const where = element === null ? place : `${place} of ${element}`;
        report({
          code: "pii_in_recording",
          event: "$snapshot",
          subject: where,
          detail: `${where} holds ${what}`,
          seq,
        });
      }
    }
  },
});
