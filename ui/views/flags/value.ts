import { plain } from "../../parts/text.ts";
import type { FlagValue } from "./answers.ts";

/** A flag's value: true, false, or a variant in quotes. */
export const valueText = (value: FlagValue | null): string =>
  value === null ? "no value" : typeof value === "string" ? `"${plain(value, 60)}"` : String(value);

export const valueTone = (value: FlagValue | null): "accent" | "good" | "plain" =>
  typeof value === "string" ? "accent" : value === true ? "good" : "plain";
