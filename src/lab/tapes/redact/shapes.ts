import { mayHaveToken, tokenFormats } from "./token-formats.ts";

interface Shape {
  kind: string;
  pattern: RegExp;
  /** What the text must contain: looked for first, because most texts have none of it. */
  hint: string;
  /** The same more precisely, where the hint is in many texts. */
  rare?: RegExp;
  test?: (found: string) => boolean;
  /** Made for everyone to see: it gets a placeholder, but is no finding. */
  public?: true;
}

/** The kind of card numbers: the only one that an id can look like. */
export const cardNumber = "card_number";

const hasDigitOrIsLong = (value: string): boolean => /\d/.test(value) || value.length >= 24;

const isLogin = (base64: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(base64, "base64").toString("latin1"));

/** Digits that may be a card's: of the length that the network of the first digits has, and with a right check digit. */
function isCardNumber(found: string): boolean {
  const digits = found.replace(/\D/g, "");
  if (!cardNetworks.some((network) => network.test(digits)) || /^(\d)\1+$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** First digits and lengths by network (ISO/IEC 7812). Cards of 13 digits are no longer issued: those are article numbers. */
const cardNetworks = [
  /^4\d{15}$/,
  /^(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^(?:6011|64[4-9]\d|65\d{2})\d{12}$/,
  /^(?:30[0-5]|3[689]\d)\d{11}$/,
  /^35(?:2[89]|[3-8]\d)\d{12}$/,
  /^62\d{14,17}$/,
];

/** Keys of the service by what stands behind `ph`. */
const serviceKey = (letter: string, kind: string): Shape => ({
  kind,
  hint: `ph${letter}_`,
  pattern: new RegExp(`(?<![A-Za-z0-9])ph${letter}_[\\w-]{4,}|ph${letter}_[A-Za-z0-9]{20,}`, "g"),
});

/** Every pattern is linear. What is captured is the secret; what stands before it (looked behind) stays readable. */
const shapes: readonly Shape[] = [
  {
    kind: "private_key",
    hint: " PRIVATE KEY",
    pattern:
      /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { ...serviceKey("c", "project_key"), public: true },
  serviceKey("x", "personal_api_key"),
  serviceKey("s", "secret_api_key"),
  serviceKey("a", "oauth_access_token"),
  serviceKey("r", "oauth_refresh_token"),
  { kind: "service_key", hint: "ph", pattern: /(?<![A-Za-z])ph[bd-wyz]_[A-Za-z0-9]{20,}/g },
  { kind: "jwt", hint: "eyJ", pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*/g },
  {
    kind: "authorization",
    hint: "earer",
    pattern: /(?<=\b[Bb]earer(?:\s|%20|\+))[\w.~+/=-]{8,}/g,
    test: hasDigitOrIsLong,
  },
  {
    kind: "authorization",
    hint: "asic",
    pattern: /(?<=\b[Bb]asic(?:\s|%20|\+))[A-Za-z0-9+/]{6,}={0,2}/g,
    test: isLogin,
  },
  { kind: "userinfo", hint: "://", pattern: /(?<=:\/\/)[^\s/?#@"'<>:\\]*:[^\s/?#"'<>\\]+(?=@)/g },
  {
    kind: "aws_access_key_id",
    hint: "A",
    rare: /A(?:KIA|SIA|ROA|IDA|BIA|CCA|3T)/,
    pattern: /(?<![A-Za-z0-9])A(?:KIA|SIA|ROA|IDA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  { kind: "google_api_key", hint: "AIza", pattern: /(?<![A-Za-z0-9])AIza[\w-]{35}/g },
  { kind: "google_oauth", hint: "ya29.", pattern: /(?<![A-Za-z0-9])ya29\.[\w-]{20,}/g },
  { kind: "github_token", hint: "gh", pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}/g },
  { kind: "github_token", hint: "github_pat_", pattern: /github_pat_\w{20,}/g },
  { kind: "slack_token", hint: "xox", pattern: /(?<![A-Za-z0-9])xox[a-z]-[\w-]{10,}/g },
  {
    kind: "slack_webhook",
    hint: "hooks.slack.com/",
    pattern: /(?<=hooks\.slack\.com\/)(?:services|workflows|triggers)\/[\w/+-]{10,}/g,
  },
  { kind: "stripe_key", hint: "k_", pattern: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g },
  {
    kind: "llm_key",
    hint: "sk-",
    // Keys of OpenAI, Anthropic, OpenRouter and Langfuse have dashes.
    pattern: /(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin|ant|or|lf)-[\w-]{20,}|(?:[a-z]+-){0,3}[A-Za-z0-9_]{20,})/g,
    test: hasDigitOrIsLong,
  },
  {
    kind: "sharing_token",
    hint: "/",
    rare: /\/(?:shared|embedded)/,
    pattern: /(?<=\/(?:shared|embedded|shared_dashboard)\/)[A-Za-z0-9][\w-]{19,}/g,
  },
  {
    kind: "userinfo",
    hint: "curl",
    rare: /\scurl\s|^curl\s/,
    pattern: /(?<=\s(?:-u|--user)[ =]["']?)[^\s:"'@]{1,200}:[^\s"']{3,200}/g,
  },
  { kind: "azure_account_key", hint: "Key=", pattern: /(?<=\b(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}/g },
  ...tokenFormats,
  {
    kind: cardNumber,
    hint: "",
    rare: /\d{4}[ -]?\d{4}/,
    // In groups as on the card, or without a break; not a part of a number, a word or a UUID.
    pattern: /(?<![\w.+-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d)/g,
    test: isCardNumber,
  },
];

export const shapeCount = shapes.length;

/** The many formats of tokens are looked for in one search. */
const formats: ReadonlySet<Shape> = new Set(tokenFormats);
const others: readonly Shape[] = shapes.filter((it) => !formats.has(it));

function shapesFor(text: string): readonly Shape[] {
  const found = others.filter(({ hint, rare }) => text.includes(hint) && (rare?.test(text) ?? true));
  return mayHaveToken(text) ? [...found, ...tokenFormats.filter(({ hint }) => text.includes(hint))] : found;
}

/** Each secret-looking stretch of the text becomes what `take` gives for it. */
export function replaceShapes(text: string, take: (kind: string, secret: string) => string): string {
  let out = text;
  for (const { kind, pattern, test } of shapesFor(text)) {
    out = out.replace(pattern, (found) => (test && !test(found) ? found : take(kind, found)));
  }
  return out;
}

export const hasShape = (text: string): boolean => {
  for (const { pattern, test } of shapesFor(text)) {
    const found = text.match(pattern) ?? [];
    if (test ? found.some(test) : found.length > 0) return true;
  }
  return false;
};

/** The kind of a value that is nothing but a known secret. */
export const kindOfShape = (value: string): string | undefined =>
  shapes.find(({ pattern, hint }) => value.includes(hint) && value.match(pattern)?.[0] === value)?.kind;

/** Kinds that are made for everyone to see. */
export const isPublic = (kind: string): boolean => shapes.some((shape) => shape.kind === kind && shape.public === true);

export const shapesOf = (kind: string, text: string): string[] =>
  shapes.filter((shape) => shape.kind === kind).flatMap(({ pattern }) => text.match(pattern) ?? []);
