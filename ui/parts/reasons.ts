import { dropReasons, type ReasonText, warnings } from "../../src/journal/outcome.ts";

const reasonTexts: Readonly<Record<string, ReasonText>> = { ...dropReasons, ...warnings };

/** Meaning and fix of a drop reason or a warning. An unknown code is its own sentence and has no fix. */
export const explained = (code: string): ReasonText =>
  (Object.hasOwn(reasonTexts, code) ? reasonTexts[code] : undefined) ?? { sentence: code, fix: "" };
