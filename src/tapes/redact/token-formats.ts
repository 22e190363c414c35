import { escapedPattern } from "../../base/text.ts";

/**
 * Formats of tokens that can be recognised without a name beside them. They follow the rules of gitleaks, a maintained
 * public rule set: the first column is the id of the rule there. Rules that need a keyword near the token are left out,
 * because names are judged in names.ts. Lengths are minimums, and shorter than those of real tokens where the prefix
 * alone is unmistakable: tests use short ones, and bodies are cut off.
 */
export const ruleSet = {
  name: "gitleaks",
  version: "8.28",
  source:
    "https://github.com/gitleaks/gitleaks/blob/009e025ad4106ab333aa0b9dc4f2a884390d134c/config/gitleaks.toml",
  license: "MIT",
} as const;

const alphanumeric = "A-Za-z0-9";
const hex = "a-fA-F0-9";
const wordy = "\\w-";

/** `lead` as it stands, then at least `least` characters of a class. */
type Row = readonly [rule: string, lead: string, chars: string, least: number];

const prefixed: readonly Row[] = [
  ["1password-service-account-token", "ops_eyJ", "A-Za-z0-9+/=", 100],
  ["adobe-client-secret", "p8e-", alphanumeric, 32],
  ["age-secret-key", "AGE-SECRET-KEY-1", "A-Z0-9", 40],
  ["alibaba-access-key-id", "LTAI", alphanumeric, 20],
  ["artifactory-api-key", "AKCp", alphanumeric, 60],
  ["artifactory-reference-token", "cmVmd", alphanumeric, 59],
  ["clojars-api-token", "CLOJARS_", alphanumeric, 40],
  ["databricks-api-token", "dapi", `${hex}-`, 32],
  ["defined-networking-api-token", "dnkey-", "\\w=-", 40],
  ["digitalocean-access-token", "doo_v1_", hex, 32],
  ["digitalocean-pat", "dop_v1_", hex, 32],
  ["digitalocean-refresh-token", "dor_v1_", hex, 32],
  ["doppler-api-token", "dp.pt.", alphanumeric, 40],
  ["duffel-api-token", "duffel_test_", "\\w=-", 30],
  ["duffel-api-token", "duffel_live_", "\\w=-", 30],
  ["dynatrace-api-token", "dt0c01.", "A-Za-z0-9.", 60],
  ["easypost-api-token", "EZAK", alphanumeric, 54],
  ["easypost-test-api-token", "EZTK", alphanumeric, 54],
  ["facebook-page-access-token", "EAAM", alphanumeric, 100],
  ["facebook-page-access-token", "EAAC", alphanumeric, 100],
  ["flutterwave-secret-key", "FLWSECK_TEST-", "A-Za-z0-9-", 12],
  ["flutterwave-secret-key", "FLWSECK-", "A-Za-z0-9-", 32],
  ["flyio-access-token", "fo1_", wordy, 43],
  ["flyio-access-token", "fm2_", "A-Za-z0-9+/=", 100],
  ["frameio-api-token", "fio-u-", "\\w=-", 40],
  ["gitlab-cicd-job-token", "glcbt-", wordy, 16],
  ["gitlab-deploy-token", "gldt-", wordy, 16],
  ["gitlab-feature-flag-client-token", "glffct-", wordy, 16],
  ["gitlab-feed-token", "glft-", wordy, 16],
  ["gitlab-incoming-mail-token", "glimt-", wordy, 16],
  ["gitlab-kubernetes-agent-token", "glagent-", wordy, 30],
  ["gitlab-oauth-app-secret", "gloas-", wordy, 40],
  ["gitlab-pat", "glpat-", "\\w.-", 16],
  ["gitlab-ptt", "glptt-", hex, 20],
  ["gitlab-rrt", "GR1348941", wordy, 16],
  ["gitlab-runner-authentication-token", "glrt-", "\\w.-", 16],
  ["gitlab-scim-token", "glsoat-", wordy, 16],
  ["grafana-cloud-api-token", "glc_", "A-Za-z0-9+/=", 32],
  ["grafana-service-account-token", "glsa_", "\\w", 32],
  ["heroku-api-key-v2", "HRKU-AA", wordy, 40],
  ["huggingface-access-token", "hf_", alphanumeric, 30],
  ["huggingface-organization-api-token", "api_org_", alphanumeric, 30],
  ["infracost-api-token", "ico-", alphanumeric, 32],
  ["linear-api-key", "lin_api_", alphanumeric, 32],
  ["new-relic-insert-key", "NRII-", "A-Za-z0-9-", 24],
  ["new-relic-user-api-key", "NRAK-", alphanumeric, 24],
  ["notion-api-token", "ntn_", alphanumeric, 40],
  ["npm-access-token", "npm_", alphanumeric, 30],
  ["openshift-user-token", "sha256~", wordy, 43],
  ["perplexity-api-key", "pplx-", alphanumeric, 40],
  ["planetscale-api-token", "pscale_tkn_", "\\w=.-", 32],
  ["planetscale-oauth-token", "pscale_oauth_", "\\w=.-", 32],
  ["planetscale-password", "pscale_pw_", "\\w=.-", 32],
  ["postman-api-token", "PMAK-", `${hex}-`, 40],
  ["prefect-api-token", "pnu_", alphanumeric, 36],
  ["pulumi-api-token", "pul-", hex, 40],
  ["pypi-upload-token", "pypi-AgEIcHlwaS5vcmc", wordy, 20],
  ["readme-api-token", "rdme_", "a-z0-9", 60],
  ["rubygems-api-token", "rubygems_", hex, 40],
  ["scalingo-api-token", "tk-us-", wordy, 40],
  ["sendinblue-api-token", "xkeysib-", "A-Za-z0-9-", 60],
  ["sentry-org-token", "sntrys_", "A-Za-z0-9+/=_", 40],
  ["sentry-user-token", "sntryu_", hex, 40],
  ["settlemint-application-access-token", "sm_aat_", alphanumeric, 16],
  ["settlemint-personal-access-token", "sm_pat_", alphanumeric, 16],
  ["settlemint-service-access-token", "sm_sat_", alphanumeric, 16],
  ["shippo-api-token", "shippo_live_", hex, 30],
  ["shippo-api-token", "shippo_test_", hex, 30],
  ["shopify-access-token", "shpat_", hex, 30],
  ["shopify-custom-access-token", "shpca_", hex, 30],
  ["shopify-private-app-access-token", "shppa_", hex, 30],
  ["shopify-shared-secret", "shpss_", hex, 30],
  ["slack-app-token", "xapp-", "A-Za-z0-9-", 20],
  ["sourcegraph-access-token", "sgp_", "\\w", 40],
  ["square-access-token", "sq0atp-", wordy, 22],
  ["stripe-access-token", "sk_prod_", alphanumeric, 10],
  ["stripe-access-token", "rk_prod_", alphanumeric, 10],
  ["typeform-api-token", "tfp_", "\\w=.-", 40],
  ["vault-batch-token", "hvb.", wordy, 90],
  ["vault-service-token", "hvs.", wordy, 60],
];

/** A format of which a prefix and a length are not all. `start`: how it begins, after anything but a letter or digit. */
type Special = readonly [rule: string, hint: string, pattern: RegExp, start?: string];

const special: readonly Special[] = [
  ["sendgrid-api-token", "SG.", /(?<![A-Za-z0-9])SG\.[\w=-]{16,}\.[\w=-]{16,}/g, "SG\\."],
  [
    "mailgun-private-api-token",
    "key-",
    /(?<![A-Za-z0-9-])(?:pub)?key-[a-f0-9]{32}(?![A-Za-z0-9])/g,
    "(?:pub)?key-",
  ],
  [
    "mailgun-signing-key",
    "-",
    /(?<![A-Za-z0-9-])[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}(?![A-Za-z0-9-])/g,
    "[a-h0-9]{32}-",
  ],
  ["mailchimp-api-key", "-us", /(?<![A-Za-z0-9])[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])/g, "[a-f0-9]{32}-us"],
  ["twilio-api-key", "SK", /(?<![A-Za-z0-9])SK[0-9a-fA-F]{32}(?![A-Za-z0-9])/g, "SK[0-9a-fA-F]{32}"],
  ["telegram-bot-api-token", ":A", /(?<!\d)\d{5,16}:A[\w-]{34}(?![\w-])/g],
  ["hashicorp-tf-api-token", ".atlasv1.", /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}/g],
  ["maxmind-license-key", "_mmk", /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/g],
  ["azure-ad-client-secret", "Q~", /(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g],
  [
    "plaid-api-token",
    "access-",
    /(?<![A-Za-z0-9])access-(?:sandbox|development|production)-[\da-f-]{36}/g,
    "access-[sdp]",
  ],
  [
    "microsoft-teams-webhook",
    ".webhook.office.com/",
    /(?<=\.webhook\.office\.com\/webhookb2\/)[\da-f@-]{36,90}\/IncomingWebhook\/[\da-zA-Z/-]{32,}/g,
  ],
];

const formats: readonly Special[] = [
  ...prefixed.map(
    ([rule, lead, chars, least]): Special => [
      rule,
      lead,
      new RegExp(`(?<![A-Za-z0-9])${escapedPattern(lead)}[${chars}]{${least},}`, "g"),
      escapedPattern(lead),
    ],
  ),
  ...special,
];

/** Each format with its kind, as placeholders name it: `npm_access_token`. Every pattern is linear. */
export const tokenFormats: readonly { kind: string; hint: string; pattern: RegExp }[] = formats.map(
  ([rule, hint, pattern]) => ({ kind: rule.replaceAll("-", "_"), hint, pattern }),
);

/** Looked for together, at the starts of words only: most texts have none of the many. */
const anyStart = new RegExp(
  `(?<![A-Za-z0-9])(?:${[...new Set(formats.flatMap(([, , , start]) => start ?? []))].join("|")})`,
);
const otherHints = formats.flatMap(([, hint, , start]) => (start === undefined ? [hint] : []));

/** Can there be a token of one of the formats in the text? */
export const mayHaveToken = (text: string): boolean =>
  anyStart.test(text) || otherHints.some((hint) => text.includes(hint));
