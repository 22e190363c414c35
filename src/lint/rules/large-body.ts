import type { Rule } from "../types.ts";

const mebibyte = 1024 * 1024;
/** From this share of the limit on it is worth a word. */
const share = 0.8;

/** `large_body` */
export const largeBody = (): Rule => ({
  look({ bytes, mostBytes = Number.POSITIVE_INFINITY, events }, { tell }) {
    if (bytes <= share * mostBytes) return;
    const detail = `${(bytes / mebibyte).toFixed(1)} of ${mostBytes / mebibyte} MB`;
    tell({ code: "large_body", event: null, subject: "", detail, seq: events[0]?.seq ?? null });
  },
});
