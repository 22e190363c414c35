import { describe, expect, test } from "vitest";
import {
  coversAll,
  flagMaps,
  headerSecrecyOf,
  isNothing,
  kindOfName,
  loginNames,
  plainName,
  secrecyOf,
} from "../../../../src/lab/tapes/redact/names.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

const strong = words(`password passwd passphrase secret private_key privatekey access_key accesskey api_key apikey
  signing_key encryption_key credential authorization auth_key authkey session_key master_key license_key
  subscription_key service_role_key privkey`);
const weak =
  words(`token tokens my_token my_access_control_token mytokens token_backup token_value token_uri token_hash x_token_hash
  cookie cookies set_cookie set_cookies client_email sessionid phpsessid jsessionid connect.sid account_key my_account_key
  X-Amz-Signature X-Goog-Signature creds db_creds jwt session_jwt client_assertion SAMLResponse smtp_pass`);
/** Strong ones that a further word makes harmless. */
const opening =
  words(`pin pin_code pincode card_pin pwd passcode pass_code otp totp login_otp cvv cvc cvv2 recovery_code recovery_codes
  recoveryCodes backup_codes scratch_codes verification_code security_code security_answer mfa_code 2fa_code sms_code
  totp_code two_factor_code one_time_code login_code auth_code device_code reset_code unlock_code recovery_key
  recovery_phrase seed_phrase mnemonic code_verifier access_code accessCode activation_code door_code email_code oobCode
  pin_number pinNumber bearer passwort mot_de_passe contrasena`);
const plain = words(`pass passport private access key keys signingkey encryption public_key author token_type
  token_backups token_hashes mytoken_hash tokenize cookies_count my_cookie cookie_mode cookieless_mode csrf_cookie_name
  csrf_header_name my_client_email client_email_2 sessionids my_sessionid tot otps totp2 session_id
  author_key keyboard sessions_key bearer_type access_codec user_code
  pinned pins is_pinned spin shipping opinion pinterest pin_count code codes zip_code zipCode country_code countryCode
  error_code status_code http_code promo_code coupon_code referral_code language_code currency_code product_code qr_code
  source_code postal_code region_code confirmation_code code_challenge sig signature hmac ticket ticket_id state
  recovery recovery_rate backup_count verification_status security_level device_codec unlock_level
  myaccount_key account_key_2 access_control_allow_credentials`);

describe("names of secrets", () => {
  test.each(strong)("%s, alone or among other words, whatever the value's type", (name) => {
    for (const it of [name, `my_${name}`, `${name}_2`, name.toUpperCase(), `$${name.replace("_", "-")}`]) {
      expect([it, secrecyOf(it)]).toEqual([it, "strong"]);
    }
  });

  test.each(opening)("%s opens something", (name) => {
    expect([secrecyOf(name), secrecyOf(`my_${name}`), secrecyOf(`${name}_count`)]).toEqual([
      "strong",
      "strong",
      undefined,
    ]);
  });

  test.each(weak)("%s, where the value is a text", (name) => {
    expect([secrecyOf(name), secrecyOf(name.toUpperCase())]).toEqual(["weak", "weak"]);
  });

  test.each(plain)("%s is none", (name) => {
    expect([secrecyOf(name), coversAll(name)]).toEqual([undefined, false]);
  });

  test("neither is a flag's, or one that is too long", () => {
    expect(secrecyOf("$feature/password-page")).toBeUndefined();
    expect(secrecyOf(`password${"x".repeat(112)}`)).toBe("strong");
    expect(secrecyOf(`password${"x".repeat(113)}`)).toBeUndefined();
  });

  test.each([
    ["personalApiKey", "personal_api_key"],
    ["Personal-Api-Key", "personal_api_key"],
    ["$personal_api_key", "personal_api_key"],
    ["config[password]", "config_password"],
    ["aws2Key", "aws2_key"],
    ["__a..b__", "a_b"],
  ])("%s is plainly %s", (name, expected) => {
    expect(plainName(name)).toBe(expected);
  });

  test.each([
    ["X-Api-Key", "api_key"],
    ["my-x-key", "my_x_key"],
    ["aws2Key", "aws2_key"],
    ["$$$", "secret"],
    ["k".repeat(41), "k".repeat(40)],
  ])("the kind of %s is %s", (name, kind) => {
    expect(kindOfName(name)).toBe(kind);
  });
});

describe("everything below a name is secret", () => {
  test.each(
    words(`credential credentials secret secrets password passwords token tokens cookie cookies api_key api_keys
    private_key api_key_info secret_service_account my_credentials set_cookies`),
  )("%s", (name) => {
    expect(coversAll(name)).toBe(true);
  });

  test.each(
    words(`credentials_count mycredentials secrets_2 password_length token_type key_info service_account
    my_cookies passphrase authorization`),
  )("not %s", (name) => {
    expect(coversAll(name)).toBe(false);
  });
});

describe("headers", () => {
  test.each(
    words(`x-auth auth-code oauth x-authorisation x-authorization x-www-authenticate www-authenticate-2
    proxy-authenticate-2 my-authentication-info authentication-info-2 authentication-results-2 authentication-x
    authenticate x-key my-gateway-key x-hub-signature-256 stripe-signature x-slack-signature signature`),
  )("%s is a credential", (name) => {
    expect(headerSecrecyOf(name)).toBe("strong");
  });

  test.each(
    words(`:authority x-author www-authenticate proxy-authenticate authentication-results authentication-info
    accept content-type signature-input idempotency-key surrogate-key sec-websocket-key x-cache-key x-keys`),
  )("%s is none", (name) => {
    expect(headerSecrecyOf(name)).toBeUndefined();
  });

  test.each(words("set-cookie cookie x-token x-auth-token author-token"))("%s is what its name says", (name) => {
    expect(headerSecrecyOf(name)).toBe("weak");
  });
});

const redacted = (json: object) =>
  createRedactor().redact(exchangeWith({ body: { json: JSON.parse(JSON.stringify(json)) } }));

test.each([...loginNames])("half of a login: %s, in a destination only", (name) => {
  const secret = "correct-horse-7";
  expect(leaks(redacted({ destination: { type: "S3", config: { [name]: secret } } }), secret)).toBe(false);
  expect(leaks(redacted({ [name]: secret }), secret)).toBe(true);
});

test("the logins and the maps of flags are these", () => {
  expect([...loginNames]).toEqual(words("user username role_arn connection_string"));
  expect([...flagMaps]).toEqual(
    words("featureFlags featureFlagPayloads feature_flags feature_flag_payloads flags $feature_flag_payloads"),
  );
});

test.each([...flagMaps])("the keys of %s are flags, not names", (name) => {
  const variant = "variant-long-name";
  const json = { [name]: { "new-password-page": name === "flags" ? { variant } : variant } };
  expect(redacted(json).req.body).toEqual({ json });
  expect(leaks(redacted({ other: { "new-password-page": variant } }), variant)).toBe(false);
});

describe("values that are no secrets", () => {
  const nothings = ["", "***", "• • •", "...", ..."true false null none undefined nan bearer basic".split(" ")];
  test.each(nothings.flatMap((it) => [it, it.toUpperCase()]))("%j", (value) => {
    expect(isNothing(value)).toBe(true);
  });

  test.each(["*a*", "truely", "untrue", "nonesuch", "0", "bearer x", "nano"])("but %j", (value) => {
    expect(isNothing(value)).toBe(false);
  });
});
