/** What personal data, or a credential, a text holds. Precise rather than broad: what is not sure is not told. */
export type Sensitive = "an e-mail address" | "a card number" | "an IBAN" | "a JSON web token";

/** So much of a text is looked at. */
const longest = 10_000;

const localPart = /(?<![\w.+%-])[a-z0-9][\w.+-]{0,63}$/i;
const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}([a-z]{2,24})(?![\w-])/i;
/** `icon@2x.png` is a file, `git@…` an address of no person, `//user@host` the login of a URL. */
const fileEndings: ReadonlySet<string> = new Set(
  "png jpg jpeg gif svg webp avif ico js mjs cjs ts tsx jsx css scss json map html".split(" "),
);
const login = /:\/\/[^\s/?#]{0,200}$/;

function isEmailAt(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 200), at);
  const local = localPart.exec(before)?.[0];
  const ending = domain.exec(text.slice(at + 1, at + 320))?.[1];
  return (
    local !== undefined &&
    ending !== undefined &&
    local.toLowerCase() !== "git" &&
    !fileEndings.has(ending.toLowerCase()) &&
    !login.test(before)
  );
}

/** Looked for around each `@`, so that no text makes it slow. */
function hasEmail(text: string): boolean {
  const plain = text.includes("%40") ? text.replaceAll("%40", "@") : text;
  for (let at = plain.indexOf("@"), tries = 0; at !== -1 && tries < 50; tries++) {
    if (isEmailAt(plain, at)) return true;
    at = plain.indexOf("@", at + 1);
  }
  return false;
}

/** How card numbers begin and how long they are, for the issuers that people have. */
const issuers =
  /^(?:4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14})$/;

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const grouped = /^\d{4}([ -])\d{4,6}\1\d{4,5}(\1\d{4})?$/;
const digitsOnly = /^\d{14,16}$/;

/** The whole text is the number: in a longer one, digits are anything. */
function isCard(text: string): boolean {
  if (text.length > 19 || !(digitsOnly.test(text) || grouped.test(text))) return false;
  const digits = text.replace(/[ -]/g, "");
  return issuers.test(digits) && passesLuhn(digits);
}

/** Length of an IBAN by country. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  "AD24 AE23 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 LI21 LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SA24 SE24 SI19 SK24 SM27 TR26"
    .split(" ")
    .map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);

/** ISO 13616: the number, its head put behind and letters counted from 10, leaves 1 when divided by 97. */
function isIban(text: string): boolean {
  if (text.length > 42 || !/^[A-Z]{2}\d{2} ?[A-Z0-9]/.test(text)) return false;
  const packed = text.replaceAll(" ", "");
  if (ibanLengths.get(packed.slice(0, 2)) !== packed.length || !/^[A-Z0-9]+$/.test(packed)) return false;
  let rest = 0;
  for (const char of packed.slice(4) + packed.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const token = /(?<![\w-])(eyJ[\w-]{10,2000})\.eyJ[\w-]{10,}\.[\w-]{20,}/;

/** Three parts of base64url, the first of which is a header with an algorithm. */
function hasToken(text: string): boolean {
  const head = text.includes("eyJ") ? token.exec(text)?.[1] : undefined;
  return head !== undefined && Buffer.from(head, "base64url").toString("latin1").includes('"alg"');
}

const finders: readonly (readonly [Sensitive, (text: string) => boolean])[] = [
  ["a JSON web token", hasToken],
  ["a card number", isCard],
  ["an IBAN", isIban],
  ["an e-mail address", hasEmail],
];

/** The first kind that is found in a text. */
export function sensitiveIn(text: string): Sensitive | undefined {
  if (text.length < 6) return undefined;
  const start = text.slice(0, longest).trim();
  return finders.find(([, find]) => find(start))?.[0];
}
