import { decodePart } from "../sessions/decode.ts";
import { lossReasons, undecidable, unreadables } from "../sessions/rrweb.ts";
import { textsOfPart } from "../sessions/search.ts";
import type { LintCode } from "./codes.ts";
import { sensitiveIn } from "./personal-data.ts";
import type { Rule } from "./rule.ts";

/** Limits of the search in one part: characters after decompression, and texts. */
const most = { characters: 2 * 1024 * 1024, texts: 5_000 };

/** `pii_in_recording` and `recording_not_read`; they report the place, never the value. */
export const personalRecording = (): Rule => ({
  *examine({ recorded }, { report }) {
    for (const { seq, items } of recorded) {
      yield;
      const about = (code: LintCode, subject: string, detail: string): void =>
        report({ code, event: "$snapshot", subject, detail, seq });
      const notRead = (what: string, why: string): void => about("recording_not_read", what, `${what}: ${why}`);
      const { events, losses } = decodePart(items, most.characters);
      for (const { reason, what } of losses) notRead(what, lossReasons[reason]);
      const texts = textsOfPart(events);
      let left = most.texts;
      for (let next = texts.next(); ; next = texts.next()) {
        if (next.done) {
          for (const it of undecidable)
            if ((next.value[it] ?? 0) > 0) notRead(it, `a ${unreadables[it]} cannot be read as text`);
          break;
        }
        if (left-- <= 0) {
          notRead("texts", `a part has more than the ${most.texts} that are searched`);
          break;
        }
        const { place, text, element, pieces } = next.value;
        const what = sensitiveIn(text);
        if (what === undefined || pieces?.some((it) => sensitiveIn(it) !== undefined)) continue;
        const where = element === null ? place : `${place} of ${element}`;
        about("pii_in_recording", where, `${where} holds ${what}`);
      }
    }
  },
});
