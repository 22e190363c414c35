import { createDeflate } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { HeaderPairs } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanText } from "../../../../src/lab/tapes/redact/scan.ts";
import { isPublic, shapesOf } from "../../../../src/lab/tapes/redact/shapes.ts";
import { ruleSet, tokenFormats } from "../../../../src/lab/tapes/redact/token-formats.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

/** Put together here, so that none stands in this file. */
const hex = (length: number): string => "0a1b2c3d4e5f6789".repeat(9).slice(0, length);
const chars = (length: number): string => "a1B2c3D4e5F6g7H8".repeat(9).slice(0, length);
const capitals = (length: number): string => chars(length).toUpperCase();
const small = (length: number): string => chars(length).toLowerCase();
const uuid = "0a1b2c3d-4e5f-4678-9a0b-1c2d3e4f5a6b";

const tokens: [kind: string, token: string][] = [
  ["sendgrid_api_token", `SG.${chars(22)}.${chars(43)}`],
  ["npm_access_token", `npm_${chars(36)}`],
  ["gitlab_pat", `glpat-${chars(20)}`],
  ["gitlab_runner_authentication_token", `glrt-${chars(20)}`],
  ["gitlab_deploy_token", `gldt-${chars(20)}`],
  ["twilio_api_key", `SK${hex(32)}`],
  ["mailgun_private_api_token", `key-${hex(32)}`],
  ["mailgun_signing_key", `${hex(32)}-${hex(8)}-${hex(8)}`],
  ["digitalocean_pat", `dop_v1_${hex(64)}`],
  ["digitalocean_access_token", `doo_v1_${hex(64)}`],
  ["telegram_bot_api_token", `123456789:AA${chars(33)}`],
  ["shopify_access_token", `shpat_${hex(32)}`],
  ["huggingface_access_token", `hf_${chars(34)}`],
  ["mailchimp_api_key", `${hex(32)}-us21`],
  ["grafana_service_account_token", `glsa_${chars(32)}_${hex(8)}`],
  ["postman_api_token", `PMAK-${hex(24)}-${hex(34)}`],
  ["hashicorp_tf_api_token", `${chars(14)}.atlasv1.${chars(64)}`],
  ["azure_ad_client_secret", `${chars(3)}8Q~${chars(34)}`],
  ["llm_key", `sk-ant-api03-${chars(40)}-_${chars(51)}AA`],
  ["llm_key", `sk-ant-admin01-${chars(40)}-_${chars(51)}AA`],
  ["llm_key", `sk-proj-${chars(40)}-_${chars(40)}T3BlbkFJ${chars(40)}`],
  ["atlassian_api_token", `ATATT3${chars(100)}-_=${chars(40)}`],
  ["stripe_webhook_secret", `whsec_${chars(32)}`],
  ["supabase_access_token", `sbp_${hex(40)}`],
  ["resend_api_key", `re_${chars(8)}_${chars(24)}`],
  ["discord_bot_token", `MT${chars(22)}.G-_${chars(3)}.${chars(38)}`],
  ["fcm_server_key", `AAAA${chars(7)}:APA91${chars(135)}`],
  ["google_client_secret", `GOCSPX-${chars(28)}`],
  ["groq_api_key", `gsk_${chars(52)}`],
  ["hubspot_private_app_token", `pat-na1-${uuid}`],
];

const cards = [
  "4111111111111111",
  "5555 5555 5555 4444",
  "3782-822463-10005",
  "6011111111111117",
  "4242 4242 4242 4242",
];

const bodyOf = (json: Json, profile: "default" | "pii" = "default"): unknown => {
  const { body } = createRedactor({ profile }).redact(exchangeWith({ body: { json } })).req;
  return body !== undefined && "json" in body ? body.json : undefined;
};

describe(`formats of ${ruleSet.name}`, () => {
  test.each(tokens)("%s", (kind, token) => {
    const forms = {
      note: `use ${token}, please`,
      alone: token,
      nested: Buffer.from(JSON.stringify({ a: token })).toString("base64"),
    };
    const safe = bodyOf(forms);
    expect(leaks(safe, token)).toBe(false);
    expect(safe).toMatchObject({ note: `use {{secret:${kind}#1}}, please`, alone: `{{secret:${kind}#1}}` });
    expect(scanText(`so: ${token} .`).map((it) => it.kind)).toEqual([kind]);
    const [first = ""] = token;
    expect(scanText(`so: ${token.replace(first, "_")}`.slice(0, 16))).toEqual([]);
  });

  test.each(tokens)("%s, under a name that is secret by itself", (kind, token) => {
    expect(bodyOf({ password: token })).toEqual({ password: `{{secret:${kind}#1}}` });
    expect(shapesOf(kind, `so: ${token} .`)).toEqual([token]);
    expect(isPublic(kind)).toBe(false);
  });

  test("each is found in linear time", () => {
    const texts = ["SG.", "key-", ".atlasv1.", "-us", "a".repeat(14), "1", "-"].map((it) => it.repeat(40_000));
    for (const { pattern } of tokenFormats) for (const text of texts) text.replace(pattern, "");
    // One that backtracks over 40,000 characters does not end before the test times out.
    expect(texts).toHaveLength(7);
  });
});

/** The shortest and longest tokens of formats with more than a prefix and a length, and texts that are almost one. */
const edges: [kind: string, tokens: string[], others: string[]][] = [
  [
    "sendgrid_api_token",
    [`SG.${chars(16)}.${chars(16)}`],
    [`SG.${chars(15)}.${chars(16)}`, `SG.${chars(16)}.${chars(15)}`, `aSG.${chars(16)}.${chars(16)}`],
  ],
  [
    "mailgun_private_api_token",
    [`key-${hex(32)}`, `pubkey-${hex(32)}`],
    [`akey-${hex(32)}`, `-key-${hex(32)}`, `key-${hex(32)}z`, `key-${hex(31)}`],
  ],
  [
    "mailgun_signing_key",
    [`${hex(32)}-${hex(8)}-${hex(8)}`],
    [
      `z${hex(32)}-${hex(8)}-${hex(8)}`,
      `-${hex(32)}-${hex(8)}-${hex(8)}`,
      `${hex(32)}-${hex(8)}-${hex(8)}z`,
      `${hex(32)}-${hex(8)}-${hex(8)}-`,
    ],
  ],
  [
    "mailchimp_api_key",
    [`${hex(32)}-us1`, `${hex(32)}-us21`],
    [`z${hex(32)}-us21`, `${hex(32)}-us`, `${hex(32)}-us213`, `${hex(32)}-us21z`],
  ],
  ["twilio_api_key", [`SK${hex(32)}`], [`aSK${hex(32)}`, `SK${hex(32)}z`, `SK${hex(31)}`]],
  [
    "telegram_bot_api_token",
    [`12345:A${chars(34)}`, `${"1234567890123456"}:A${chars(34)}`],
    [`1234:A${chars(34)}`, `12345678901234567:A${chars(34)}`, `12345:A${chars(35)}`, `12345:A${chars(33)}`],
  ],
  [
    "hashicorp_tf_api_token",
    [`${chars(14)}.atlasv1.${chars(40)}`],
    [`${chars(14)}.atlasv1.${chars(39)}`, `z${chars(14)}.atlasv1.${chars(40)}`],
  ],
  [
    "maxmind_license_key",
    [`${chars(6)}_${chars(29)}_mmk`],
    [
      `z${chars(6)}_${chars(29)}_mmk`,
      `${chars(5)}_${chars(29)}_mmk`,
      `${chars(6)}_${chars(28)}_mmk`,
      `${chars(6)}_${chars(30)}_mmk`,
      `${chars(6)}_${chars(29)}_mmkz`,
    ],
  ],
  [
    "azure_ad_client_secret",
    [`${chars(3)}8Q~${chars(31)}`, `${chars(3)}8Q~${chars(34)}`],
    [
      `z${chars(3)}8Q~${chars(31)}`,
      `${chars(3)}xQ~${chars(31)}`,
      `${chars(3)}8Q~${chars(30)}`,
      `${chars(3)}8Q~${chars(35)}`,
    ],
  ],
  [
    "plaid_api_token",
    ["sandbox", "development", "production"].map((it) => `access-${it}-${hex(36)}`),
    [`zaccess-sandbox-${hex(36)}`, `access-sandbox-${hex(35)}`, `access-staging-${hex(36)}`],
  ],
  [
    "1password_secret_key",
    [
      `A3-${capitals(6)}-${capitals(11)}-${capitals(5)}-${capitals(5)}-${capitals(5)}`,
      `A3-${capitals(6)}-${capitals(6)}-${capitals(5)}-${capitals(5)}-${capitals(5)}-${capitals(5)}`,
    ],
    [
      `A3-${capitals(6)}-${capitals(11)}-${capitals(5)}-${capitals(5)}`,
      `xA3-${capitals(6)}-${capitals(11)}-${capitals(5)}-${capitals(5)}-${capitals(5)}`,
      `A3-${capitals(6)}-${capitals(11)}-${capitals(5)}-${capitals(5)}-${capitals(6)}`,
    ],
  ],
  [
    "airtable_personal_access_token",
    [`pat${chars(14)}.${hex(64)}`],
    [`pat${chars(14)}.${hex(31)}`, `pat${chars(13)}.${hex(64)}`, `xpat${chars(14)}.${hex(64)}`, "pattern.html"],
  ],
  [
    "authress_service_client_access_key",
    ["sc", "ext", "scauth", "authress"].map((it) => `${it}_${chars(8)}.${chars(4)}.acc-${chars(10)}.${chars(30)}`),
    [
      `sc_${chars(8)}.${chars(4)}.acc-${chars(10)}.${chars(29)}`,
      `sd_${chars(8)}.${chars(4)}.acc-${chars(10)}.${chars(30)}`,
    ],
  ],
  [
    "asana_personal_access_token",
    [`2/${"1".repeat(16)}/${"2".repeat(16)}:${hex(32)}`, `1/${"1".repeat(14)}/${"2".repeat(18)}:${hex(32)}`],
    [
      `3/${"1".repeat(16)}/${"2".repeat(16)}:${hex(32)}`,
      `2/${"1".repeat(13)}/${"2".repeat(16)}:${hex(32)}`,
      `2/${"1".repeat(16)}/${"2".repeat(16)}:${hex(33)}`,
    ],
  ],
  [
    "azure_devops_token",
    [`${chars(76)}AZDO${chars(4)}`],
    [`${chars(75)}AZDO${chars(4)}`, `${chars(76)}AZDO${chars(5)}`, `${chars(76)}AZDX${chars(4)}`],
  ],
  [
    "braintree_access_token",
    [`access_token$production$${hex(16)}$${hex(32)}`, `access_token$sandbox$${hex(16)}$${hex(32)}`],
    [`access_token$other$${hex(16)}$${hex(32)}`, `access_token$production$${hex(15)}$${hex(32)}`],
  ],
  ["launchdarkly_key", [`sdk-${uuid}`, `api-${uuid}`], [`mob-${uuid}`, `sdk-${uuid}1`, `asdk-${uuid}`]],
  ["beamer_api_token", [`b_${chars(44)}`], [`b_${chars(43)}`, `b_${chars(45)}`, `ab_${chars(44)}`]],
  [
    "cloudflare_origin_ca_key",
    [`v1.0-${hex(24)}-${hex(146)}`],
    [`v1.0-${hex(24)}-${hex(99)}`, `v1.0-${hex(23)}-${hex(146)}`, "v1.0-beta-2"],
  ],
  [
    "discord_bot_token",
    ["M", "N", "O"].map((it) => `${it}${chars(23)}.G_h-${chars(2)}.${chars(27)}`),
    [
      `A${chars(23)}.${chars(6)}.${chars(27)}`,
      `M${chars(23)}.${chars(5)}.${chars(27)}`,
      `M${chars(23)}.${chars(6)}.${chars(26)}`,
      "Mozilla.Firefox.Browser",
    ],
  ],
  [
    "dropbox_short_lived_api_token",
    [`sl.${chars(135)}`, `sl.u.${chars(120)}`],
    [`sl.${chars(99)}`, `asl.${chars(135)}`, "sl.example.test"],
  ],
  [
    "facebook_access_token",
    [`123456789012345|${chars(27)}`, `1234567890123456%7C${chars(40)}`],
    [`12345678901234|${chars(27)}`, `123456789012345|${chars(26)}`, `123456789012345|${chars(41)}`],
  ],
  [
    "fcm_server_key",
    [`AAAA${chars(7)}:APB${chars(137)}`],
    [`AAAA${chars(7)}:APB${chars(90)}`, `AAAA${chars(6)}:APB${chars(137)}`],
  ],
  [
    "fcm_registration_token",
    [`${chars(22)}:APA91${chars(130)}`],
    [`${chars(22)}:APA91${chars(59)}`, `${chars(10)}:APA91${chars(130)}`],
  ],
  ["grafana_api_key", [`eyJrIjoi${chars(70)}==`], [`eyJrIjoi${chars(59)}`, `xeyJrIjoi${chars(70)}`]],
  [
    "harness_api_key",
    ["pat", "sat"].map((it) => `${it}.${chars(22)}.${chars(24)}.${chars(20)}`),
    [`pat.${chars(22)}.${chars(24)}.${chars(19)}`, `tat.${chars(22)}.${chars(24)}.${chars(20)}`],
  ],
  [
    "hubspot_private_app_token",
    ["na1", "eu1"].map((it) => `pat-${it}-${uuid}`),
    [`pat-na-${uuid}`, `pat-na1-${uuid.slice(1)}`, `xpat-na1-${uuid}`, "pat-na1-summer"],
  ],
  [
    "lob_api_key",
    [`live_${hex(35)}`, `test_pub_${hex(31)}`],
    [`live_${hex(30)}`, `live_${hex(36)}`, `alive_${hex(35)}`, "live_streaming_started", "test_group_b"],
  ],
  [
    "mapbox_api_token",
    [`pk.${chars(60)}.${chars(22)}`],
    [`pk.${chars(59)}.${chars(22)}`, `pk.${chars(60)}.${chars(21)}`, "pk.example.test"],
  ],
  [
    "resend_api_key",
    [`re_${chars(8)}_${chars(24)}`, `re_${chars(24)}`],
    [`re_${chars(8)}_${chars(19)}`, `re_${chars(19)}`, `are_${chars(24)}`, "re_engagement_campaign_of_the_year_2026"],
  ],
  [
    "twitter_bearer_token",
    [`${"A".repeat(22)}${chars(80)}`],
    [`${"A".repeat(21)}b${chars(80)}`, `${"A".repeat(22)}${chars(69)}`],
  ],
  [
    "yandex_access_token",
    [`t1.${chars(20)}.${chars(86)}`, `t1.${chars(20)}=.${chars(86)}==`],
    [`t1.${chars(20)}.${chars(79)}`, `at1.${chars(20)}.${chars(86)}`, "t1.micro.example"],
  ],
  ["yandex_aws_access_token", [`YC${chars(38)}`], [`YC${chars(37)}`, `YC${chars(39)}`, `NYC${chars(38)}`]],
];

/** In a text that names what stands there. */
const placed: [kind: string, before: string, secret: string, other: string][] = [
  ["gitlab_session_cookie", "_gitlab_session=", small(32), "_gitlab_session=off"],
  ["discord_webhook", "https://discord.com/api/webhooks/123456789012345678/", chars(68), "/api/webhooks/12/settings"],
  ["userinfo", "run curl -s -u ", "anna:hunter22", "run sort -u a:bcd"],
  ["userinfo", "curl --user '", "anna:hunter22", "the option --user anna:hunter22"],
  [
    "slack_webhook",
    "https://hooks.slack.com/",
    `triggers/T0/${chars(20)}`,
    `https://hooks.slack.com/docs/${chars(20)}`,
  ],
  ...["ABIA", "ACCA", "A3TX"].map((lead): [string, string, string, string] => [
    "aws_access_key_id",
    "id=",
    lead + capitals(16),
    `id=${lead}${capitals(15)}`,
  ]),
];

describe("edges of formats", () => {
  test.each(edges)("%s", (kind, tokens, others) => {
    for (const it of tokens) expect(shapesOf(kind, `so: ${it} .`)).toEqual([it]);
    for (const it of others) expect(shapesOf(kind, `so: ${it} .`)).toEqual([]);
  });

  test.each(placed)("%s behind %s", (kind, before, secret, other) => {
    expect(shapesOf(kind, `${before}${secret} .`)).toEqual([secret]);
    expect(leaks(bodyOf({ note: `${before}${secret}` }), secret)).toBe(false);
    expect(scanText(other)).toEqual([]);
  });

  test("a plaid token ends after 36 characters", () => {
    expect(shapesOf("plaid_api_token", `access-production-${hex(37)}`)).toEqual([`access-production-${hex(36)}`]);
  });

  const webhook = (id: string, rest: string): string =>
    `https://acme.webhook.office.com/webhookb2/${id}/IncomingWebhook/${rest}`;
  test.each([
    [hex(36), hex(32), true],
    [hex(90), `${hex(31)}/`, true],
    [hex(35), hex(32), false],
    [hex(91), hex(32), false],
    [hex(36), hex(31), false],
    ["z".repeat(36), hex(32), false],
  ])("a webhook of Teams: %s, %s", (id, rest, isToken) => {
    expect(shapesOf("microsoft_teams_webhook", webhook(id, rest))).toEqual(
      isToken ? [`${id}/IncomingWebhook/${rest}`] : [],
    );
  });

  test("the characters of a lead are themselves", () => {
    expect(shapesOf("vault_service_token", `hvs.${chars(60)}`)).toHaveLength(1);
    expect(shapesOf("vault_service_token", `hvsx${chars(60)}`)).toEqual([]);
  });
});

describe("account keys of Azure", () => {
  const key = `${chars(86)}==`;
  test("in a connection string, wherever it is", () => {
    const connection = `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${key};EndpointSuffix=core.windows.net`;
    const documents: Json[] = [{ note: `with ${connection}` }, { AccountKey: key }, { connection }];
    for (const json of documents) {
      expect(leaks(bodyOf(json), key)).toBe(false);
    }
    expect(JSON.stringify(bodyOf({ connection }))).toContain("AccountName=shop;");
  });
});

describe("headers whose name contains auth", () => {
  const secret = "correct-horse-7";
  const headersOf = (headers: HeaderPairs) =>
    createRedactor().redact(exchangeWith({ headers, res: { headers } })).req.headers;

  test.each([
    "X-Auth",
    "x-auth-email",
    "X-Custom-Authentication",
    "Proxy-Authorization",
    "X-OAuth-Code",
    "Sec-Auth-Key",
  ])("%s", (name) => {
    expect(JSON.stringify(headersOf([[name, secret]]))).not.toContain(secret);
  });

  test.each(["WWW-Authenticate", "Proxy-Authenticate", ":authority", "X-Author", "Authentication-Results"])(
    "%s holds none",
    (name) => {
      expect(headersOf([[name, secret]])).toEqual([[name, secret]]);
    },
  );
});

describe("card numbers", () => {
  test.each(cards.flatMap((card) => (["default", "pii"] as const).map((profile) => [card, profile] as const)))(
    "%s, %s",
    (card, profile) => {
      const placeholder = "{{secret:card_number#1}}";
      expect(bodyOf({ note: `paid with ${card}.`, card }, profile)).toEqual({
        note: `paid with ${placeholder}.`,
        card: placeholder,
      });
    },
  );

  test("as a number", () => {
    expect(bodyOf({ card: 4111111111111111, total: 4111111111111112 })).toEqual({
      card: "{{secret:card_number#1}}",
      total: 4111111111111112,
    });
  });

  test.each<[string, Json]>([
    ["a wrong check digit", { note: "4111111111111112" }],
    [
      "times",
      { timestamp: 1767323045006, at: "1767323045006123", ns: "1767323045006123456", sent_at: "20260102030405" },
    ],
    ["the times that have the check digit", { times: Array.from({ length: 50 }, (_, i) => 1767323045000 + i) }],
    [
      "ids that have the check digit",
      { id: 4111111111111111, user_id: "4111111111111111", distinctId: "4111111111111111" },
    ],
    ["UUIDs", { a: "41111111-1111-4111-8111-411111111111", b: "4111-1111-1111-1111-1111" }],
    ["fractions", { a: 0.4111111111111111, b: "0.4111111111111111", c: "4111111111111111.5" }],
    ["parts of longer digits", { a: "94111111111111111", b: "x4111111111111111", c: "4111111111111111a" }],
    ["an article number", { ean: "4006381333931" }],
    ["one digit only", { a: "4444444444444444" }],
  ])("none: %s", (_, json) => {
    expect(bodyOf(json)).toEqual(json);
  });
});

test.each([9, 10, 12, 14, 15])("zlib with a window of 2^%i bytes", async (windowBits) => {
  const token = `phx_${chars(30)}`;
  const stream = createDeflate({ windowBits });
  const parts: Buffer[] = [];
  stream.on("data", (part: Buffer) => parts.push(part));
  stream.end(JSON.stringify({ note: `the key is ${token}` }));
  await new Promise((done) => stream.once("end", done));
  const bytes = Buffer.concat(parts);
  const safe = createRedactor().redact(
    exchangeWith({
      body: { b64: bytes.toString("base64") },
      res: { body: { json: { packed: bytes.toString("latin1") } } },
    }),
  );
  expect(leaks(safe, token)).toBe(false);
  expect(safe.redacted).toEqual(["req.body.note", "res.body.packed.note"]);
});

test("a text that begins like a zlib stream is a text", () => {
  const lead = Array.from({ length: 0x7f }, (_, i) => `h${String.fromCharCode(i)}`).filter(
    (it) => Buffer.from(it).readUInt16BE(0) % 31 === 0 && /^[ -~]+$/.test(it),
  );
  expect(lead.length).toBeGreaterThan(0);
  for (const it of lead) expect(scanText(`${it} glpat-${chars(20)}`)).toHaveLength(1);
});
