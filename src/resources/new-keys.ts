import { randomBytes, randomInt } from "node:crypto";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Bytes as a number to the base of 62. */
function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}

/** A new key of a project: 32 random bytes. Upstream PostHog/posthog posthog/models/utils.py. */
export const newProjectKey = (prefix: "phc_" | "phs_"): string => prefix + base62(randomBytes(32));

/** What opens a shared dashboard: 22 random bytes in 30 characters that need no escape in a URL. */
export const newAccessToken = (): string => randomBytes(22).toString("base64url");

/** Lower-case letters that make a taken slug another. */
export const randomLetters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join("");
