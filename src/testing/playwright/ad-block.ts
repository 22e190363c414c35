import { describePattern } from "../../lab/assert/match/describe.ts";

/**
 * Rules of common filter lists about PostHog, in their notation: EasyPrivacy has the paths, lists of hosts have
 * `i.posthog.com` as a whole.
 */
const commonRules: readonly string[] = [
  "||app.posthog.com/e/?compression=",
  "||app.posthog.com/e/?ip=",
  "||app.posthog.com/static/array.js",
  "||app.posthog.com/static/recorder-v2.js",
  "||i.posthog.com/*&ip=",
  "||i.posthog.com/*/?ip=",
  "||i.posthog.com/i/",
  "||i.posthog.com/static/array.js",
  "||posthog.com/*/?retry_count",
  "||i.posthog.com^",
];

const signs: Readonly<Record<string, string>> = { "*": ".*", "^": "(?:[^\\w.%-]|$)" };

const patternText = (rule: string): string => rule.replace(/[.*+?^${}()|[\]\\]/g, (sign) => signs[sign] ?? `\\${sign}`);

/** @throws TypeError for exceptions, options and rules about elements, which are not supported */
function readRule(rule: unknown): RegExp {
  const isRule = typeof rule === "string" && /^(?:\|\|)?[^\s|$#]+$/.test(rule) && !rule.startsWith("@@");
  if (!isRule)
    throw new TypeError(
      `adBlocked: ${describePattern(rule, 60)} is not a rule that can be used: write ||e.example.com^, ||example.com/ingest/ or /ingest/, with * for any characters`,
    );
  if (!rule.startsWith("||")) return new RegExp(patternText(rule), "i");
  return new RegExp(`^\\w+://(?:[^/?#]*\\.)?${patternText(rule.slice(2))}`, "i");
}

type AdBlockSetting = boolean | readonly string[] | undefined;

const rulesOf = (given: AdBlockSetting): RegExp[] => (given === true ? commonRules : given || []).map(readRule);

export const adBlockSources = (given: AdBlockSetting): string[] => rulesOf(given).map(({ source }) => source);

/**
 * True for requests that a filter list blocks.
 * @param given true: the common rules; a list: these rules; false or absent: none
 */
export function adBlockTest(given: AdBlockSetting): (url: URL) => boolean {
  const rules = rulesOf(given);
  return ({ href }) => rules.some((rule) => rule.test(href));
}
