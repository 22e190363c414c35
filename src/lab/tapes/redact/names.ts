/** `personalApiKey`, `Personal-Api-Key` and `$personal_api_key` are one name; of `config[password]` the last word counts. */
export const plainName = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "_")
    .replace(/^_+|_+$/g, "");

/** Words that make any name that has them the name of a secret, whatever the value's type. */
const strong =
  /password|passwd|passphrase|secret|private_?key|access_?key|api_?key|signing_key|encryption_key|(?:auth|session|master|license|subscription|service_role|priv)_?key|credential|authorization/;

/** Names that end in the words of a code that opens something; `zip_code` and `error_code` are none. */
const opening =
  /(?:^|_)(?:pin(?:_?(?:code|number))?|pwd|bearer|passwort|kennwort|mot_?de_?passe|contrasena|senha|wachtwoord|pass_?codes?|t?otp|cvv2?|cvc2?|(?:recovery|backup|scratch|verification|security|mfa|2fa|two_factor|t?otp|sms|one_time|login|auth|authentication|device|reset|unlock|access|activation|door|email|oob)_?(?:codes?|pins?|answers?)|recovery_(?:keys?|phrase)|seed_phrase|mnemonic|code_verifier)$/;

/** Names of secrets whose numbers are counters (`$ai_input_tokens`), and whose other words decide (`token_type`). */
const weak =
  /tokens?$|(?:^|_)token_(?:backup|value|uri|hash)$|^(?:set_)?cookies?$|^client_email$|^(?:php|j)?sess(?:ion)?id$|^connect_sid$|(?:^|_)account_key$|(?:^|_)(?:amz|goog)_signature$|(?:^|_)(?:creds|jwts?|client_assertion|saml_?response)$|(?:^|_)(?:db|smtp|mail|user|admin|root|redis|proxy|auth)_pass$/;

/** Names that have such a word in them, and whose value says nothing. */
const harmless = /^access_control_/;

export type NameSecrecy = "strong" | "weak";

function computeSecrecy(name: string): NameSecrecy | undefined {
  const plain = plainName(name);
  if (harmless.test(plain)) return undefined;
  if (strong.test(plain) || opening.test(plain)) return "strong";
  return weak.test(plain) ? "weak" : undefined;
}

/** The same names come over and over; they come from users, so the memory is bounded. */
const cache = new Map<string, NameSecrecy | undefined>();
const mostCached = 10_000;

/** Whether a field, parameter or header of this name holds a secret. `strong`: a number may be one, too. */
export function secrecyOf(name: string): NameSecrecy | undefined {
  if (name.length > 120 || name.startsWith("$feature/")) return undefined;
  const known = cache.get(name);
  if (known !== undefined || cache.has(name)) return known;
  if (cache.size >= mostCached) cache.clear();
  const secrecy = computeSecrecy(name);
  cache.set(name, secrecy);
  return secrecy;
}

/** Parameters of URLs and forms that hold a secret; in documents these names mean other things. */
const secretParameter =
  /^(?:(?:\w+_)?(?:sig|signature)|hmac|ticket|assertion|magic_?link|oauth_verifier|id_token_hint)$/;

/** Parameters that come with the code of an OAuth grant (RFC 6749). */
const withGrant = /(?:^|[?&#\s"'])(?:state|grant_type|code_verifier|redirect_uri|session_state)=/;

interface GrantText {
  isGrant(): boolean;
}

export function grantText(text: string): GrantText {
  let isGrant: boolean | undefined;
  return {
    isGrant() {
      isGrant ??= withGrant.test(text);
      return isGrant;
    },
  };
}

/** A code that is no word, no number of an error and no voucher. */
const isLongCode = (value: string): boolean =>
  value.length >= 16 && (/\d/.test(value) || value.length >= 24) && !/\s/.test(value);

/** Parameters that are secret by their value or what is beside it. */
const secretByValue: ReadonlyMap<string, (value: string, all: GrantText) => boolean> = new Map([
  ["code", (value: string, all: GrantText) => isLongCode(value) || all.isGrant()],
  ["auth", isLongCode],
]);

/** Whether a parameter of this name can be secret, by its value or what is beside it. */
export const mayBeSecretParameter = (name: string): boolean => {
  const plain = plainName(name);
  return secretByValue.has(plain) || secretParameter.test(plain);
};

/** Whether a parameter of a URL or form is secret there. @param all The text that has all of them */
export function isSecretParameter(name: string, value: string, all: GrantText): boolean {
  const plain = plainName(name);
  return secretByValue.get(plain)?.(value, all) ?? secretParameter.test(plain);
}

/** Whether a member `code` is the code of an OAuth grant, by the other members of its object. */
export const isGrantCode = (name: string, object: object): boolean =>
  name === "code" &&
  ["grant_type", "code_verifier", "codeVerifier", "redirect_uri", "redirectUri"].some((it) =>
    Object.hasOwn(object, it),
  );

/** Headers that are named like one and hold no secret: an HTTP/2 host, a person, a challenge, a report, the key of an entry. */
const harmlessHeader =
  /authority|author(?!i[sz]ation)|(?:idempotency|surrogate|cache|websocket|partition|routing|public)-key$|^(?:www|proxy)-authenticate$|^authentication-(?:results|info)$/;

/** As `secrecyOf`, of a header: `x-auth`, `auth-code`, `stripe-signature` … are credentials whatever else their name says. */
export function headerSecrecyOf(name: string): NameSecrecy | undefined {
  const secrecy = secrecyOf(name);
  const isCredential = /auth|signature(?!-input)|-key$/.test(name) && !harmlessHeader.test(name);
  return secrecy === undefined && isCredential ? "strong" : secrecy;
}

export const kindOfName = (name: string): string => plainName(name).replace(/^x_/, "").slice(0, 40) || "secret";

/** Everything below a field of this name is secret: `credentials: { user, … }`. */
export const coversAll = (name: string): boolean =>
  /(?:^|_)(?:credentials?|secrets?|passwords?|tokens?|cookies?|api_keys?|private_key|key_info|service_account)$/.test(
    plainName(name),
  ) && secrecyOf(name) !== undefined;

/** Further secrets in the `config` of a batch export's destination: half of a login. Upstream: `posthog/batch_exports/models.py`. */
export const loginNames: ReadonlySet<string> = new Set(["user", "username", "role_arn", "connection_string"]);

/** Objects whose keys are flags: a flag `new-password-page` is no password. */
export const flagMaps: ReadonlySet<string> = new Set([
  "featureFlags",
  "featureFlagPayloads",
  "feature_flags",
  "feature_flag_payloads",
  "flags",
  "$feature_flag_payloads",
]);

/** Values that are no secrets under any name: nothing, a word for yes or no, a mask. */
export const isNothing = (value: string): boolean =>
  /^(?:[*•.\s]*|true|false|null|none|undefined|nan|bearer|basic)$/i.test(value);
