/** `personalApiKey`, `Personal-Api-Key` and `$personal_api_key` are one name; of `config[password]` the last word counts. */
export const plainName = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "_")
    .replace(/^_+|_+$/g, "");

/** Words that make any name that has them the name of a secret, whatever the value's type. */
const strong =
  /password|passwd|passphrase|secret|private_?key|access_?key|api_?key|signing_key|encryption_key|credential|authorization/;

/** Names of secrets whose numbers are counters (`$ai_input_tokens`), and whose other words decide (`token_type`). */
const weak =
  /tokens?$|(?:^|_)token_(?:backup|value|uri|hash)$|^(?:set_)?cookies?$|^client_email$|^sessionid$|^t?otp$|(?:^|_)account_key$/;

/** Names that have such a word in them, and whose value says nothing. */
const harmless = /^access_control_/;

export type NameSecrecy = "strong" | "weak";

function judge(name: string): NameSecrecy | undefined {
  const plain = plainName(name);
  if (harmless.test(plain)) return undefined;
  if (strong.test(plain)) return "strong";
  return weak.test(plain) ? "weak" : undefined;
}

/** The same names come over and over; they come from users, so the memory is bounded. */
const judged = new Map<string, NameSecrecy | undefined>();
const mostJudged = 10_000;

/** Whether a field, parameter or header of this name holds a secret. `strong`: a number may be one, too. */
export function secrecyOf(name: string): NameSecrecy | undefined {
  if (name.length > 120 || name.startsWith("$feature/")) return undefined;
  const known = judged.get(name);
  if (known !== undefined || judged.has(name)) return known;
  if (judged.size >= mostJudged) judged.clear();
  const secrecy = judge(name);
  judged.set(name, secrecy);
  return secrecy;
}

/** Headers with `auth` in their name that hold no secret: an HTTP/2 host, a person, a challenge, a report. */
const harmlessHeader =
  /authority|author(?!i[sz]ation)|^(?:www|proxy)-authenticate$|^authentication-(?:results|info)$/;

/** As `secrecyOf`, of a header: `x-auth`, `auth-code` … are credentials whatever else their name says. */
export function headerSecrecyOf(name: string): NameSecrecy | undefined {
  const secrecy = secrecyOf(name);
  return secrecy === undefined && /auth/.test(name) && !harmlessHeader.test(name) ? "strong" : secrecy;
}

/** What a placeholder calls the value of a field. */
export const kindOfName = (name: string): string =>
  plainName(name).replace(/^x_/, "").slice(0, 40) || "secret";

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
