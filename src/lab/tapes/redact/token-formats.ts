import { escapedPattern } from "../../../kernel/base/text.ts";

/**
 * Formats of tokens that can be recognised without a name beside them, as gitleaks has them: the first column is the id
 * of its rule. Rules that need a keyword near the token are left out unless the token has a prefix of its own, because
 * names are checked in names.ts. Lengths are minimums, and shorter than those of real tokens where the prefix alone is
 * unmistakable: tests use short ones, and bodies are cut off.
 */
export const ruleSet = {
  name: "gitleaks",
  version: "8.30",
  source: "https://github.com/gitleaks/gitleaks/blob/b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b/config/gitleaks.toml",
  license: "MIT",
} as const;

const alphanumeric = "A-Za-z0-9";
const hex = "a-fA-F0-9";
const wordy = "\\w-";

/** One of the leads (divided by blanks) as it stands, then at least `least` characters of a class. */
type Row = readonly [rule: string, leads: string, chars: string, least: number];

const prefixed: readonly Row[] = [
  ["1password-service-account-token", "ops_eyJ", "A-Za-z0-9+/=", 100],
  ["adobe-client-secret", "p8e-", alphanumeric, 32],
  ["age-secret-key", "AGE-SECRET-KEY-1", "A-Z0-9", 40],
  ["alibaba-access-key-id", "LTAI", alphanumeric, 20],
  ["artifactory-api-key", "AKCp", alphanumeric, 60],
  ["artifactory-reference-token", "cmVmd", alphanumeric, 59],
  ["atlassian-api-token", "ATATT3", "\\w=-", 40],
  ["aws-amazon-bedrock-api-key-long-lived", "ABSK", "A-Za-z0-9+/=", 100],
  ["aws-amazon-bedrock-api-key-short-lived", "bedrock-api-key-", "A-Za-z0-9+/=", 20],
  ["clickhouse-cloud-api-secret-key", "4b1d", alphanumeric, 38],
  ["clojars-api-token", "CLOJARS_", alphanumeric, 40],
  ["databricks-api-token", "dapi", `${hex}-`, 32],
  ["defined-networking-api-token", "dnkey-", "\\w=-", 40],
  ["digitalocean-access-token", "doo_v1_", hex, 32],
  ["digitalocean-pat", "dop_v1_", hex, 32],
  ["digitalocean-refresh-token", "dor_v1_", hex, 32],
  ["doppler-api-token", "dp.pt.", alphanumeric, 40],
  ["duffel-api-token", "duffel_test_ duffel_live_", "\\w=-", 30],
  ["dynatrace-api-token", "dt0c01.", "A-Za-z0-9.", 60],
  ["easypost-api-token", "EZAK", alphanumeric, 54],
  ["easypost-test-api-token", "EZTK", alphanumeric, 54],
  ["facebook-page-access-token", "EAAM EAAC", alphanumeric, 100],
  ["flutterwave-secret-key", "FLWSECK_TEST-", "A-Za-z0-9-", 12],
  ["flutterwave-secret-key", "FLWSECK-", "A-Za-z0-9-", 32],
  ["flutterwave-public-key", "FLWPUBK_TEST-", "A-Za-z0-9-", 32],
  ["flyio-access-token", "fo1_", wordy, 43],
  ["flyio-access-token", "fm1a_ fm1r_ fm2_", "A-Za-z0-9+/=", 100],
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
  ["intra42-client-secret", "s-s4t2ud- s-s4t2af-", hex, 64],
  ["linear-api-key", "lin_api_", alphanumeric, 32],
  ["new-relic-browser-api-token", "NRJS-", hex, 19],
  ["new-relic-insert-key", "NRII-", "A-Za-z0-9-", 24],
  ["new-relic-user-api-key", "NRAK-", alphanumeric, 24],
  ["notion-api-token", "ntn_", alphanumeric, 40],
  ["octopus-deploy-api-key", "API-", "A-Z0-9", 26],
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
  ["shippo-api-token", "shippo_live_ shippo_test_", hex, 30],
  ["shopify-access-token", "shpat_", hex, 30],
  ["shopify-custom-access-token", "shpca_", hex, 30],
  ["shopify-private-app-access-token", "shppa_", hex, 30],
  ["shopify-shared-secret", "shpss_", hex, 30],
  ["slack-app-token", "xapp-", "A-Za-z0-9-", 20],
  ["sonar-api-token", "squ_ sqp_ sqa_", hex, 40],
  ["sourcegraph-access-token", "sgp_", "\\w", 40],
  ["square-access-token", "sq0atp-", wordy, 22],
  ["square-access-token", "EAAA", wordy, 56],
  ["stripe-access-token", "sk_prod_ rk_prod_", alphanumeric, 10],
  ["typeform-api-token", "tfp_", "\\w=.-", 40],
  ["vault-batch-token", "hvb.", wordy, 90],
  ["vault-service-token", "hvs.", wordy, 60],
  ["yandex-api-key", "AQVN", wordy, 35],
];

/** As `prefixed`, from the documentation of their vendors: the rule set does not have them, or only beside a keyword. */
const documented: readonly Row[] = [
  ["atlassian-bitbucket-token", "ATCTT3", "\\w=-", 40],
  ["bitbucket-app-password", "ATBB", alphanumeric, 28],
  ["bitbucket-data-center-token", "BBDC-", "A-Za-z0-9+/", 40],
  ["buildkite-api-token", "bkua_", hex, 40],
  ["docker-access-token", "dckr_pat_ dckr_oat_", wordy, 24],
  ["doppler-api-token", "dp.ct.", alphanumeric, 40],
  ["doppler-api-token", "dp.st.", "\\w.-", 40],
  ["doppler-api-token", "dp.sa.", alphanumeric, 40],
  ["figma-access-token", "figd_", wordy, 36],
  ["gitlab-workspace-token", "glwt-", wordy, 16],
  ["google-client-secret", "GOCSPX-", wordy, 24],
  ["google-refresh-token", "1//0", wordy, 40],
  ["groq-api-key", "gsk_", alphanumeric, 40],
  ["langsmith-api-key", "lsv2_pt_ lsv2_sk_", "a-f0-9_", 32],
  ["linear-oauth-token", "lin_oauth_", alphanumeric, 32],
  ["mapbox-secret-token", "sk.eyJ", "\\w.-", 40],
  ["netlify-access-token", "nfp_", alphanumeric, 36],
  ["nvidia-api-key", "nvapi-", wordy, 40],
  ["replicate-api-token", "r8_", alphanumeric, 37],
  ["square-application-secret", "sq0csp-", wordy, 40],
  ["stripe-webhook-secret", "whsec_", "A-Za-z0-9+/=_-", 16],
  ["supabase-access-token", "sbp_", "a-z0-9_", 40],
  ["supabase-secret-key", "sb_secret_", wordy, 20],
  ["tailscale-key", "tskey-", wordy, 20],
  ["tavily-api-key", "tvly-", wordy, 24],
  ["vercel-blob-token", "vercel_blob_rw_", "\\w", 30],
  ["xai-api-key", "xai-", alphanumeric, 60],
  ["apify-api-token", "apify_api_", alphanumeric, 30],
  ["brevo-smtp-key", "xsmtpsib-", "A-Za-z0-9-", 60],
  ["cerebras-api-key", "csk-", alphanumeric, 40],
  ["circleci-personal-token", "CCIPAT_", "\\w", 40],
  ["circleci-project-token", "CCIPRJ_", "\\w", 40],
  ["contentful-personal-token", "CFPAT-", wordy, 40],
  ["deno-deploy-token", "ddp_", alphanumeric, 36],
  ["e2b-api-key", "e2b_", hex, 40],
  ["elevenlabs-api-key", "sk_", hex, 48],
  ["fireworks-api-key", "fw_", alphanumeric, 22],
  ["gitlab-runner-registration-token", "glrtr-", wordy, 16],
  ["inngest-signing-key", "signkey-prod- signkey-test-", hex, 32],
  ["jina-api-key", "jina_", alphanumeric, 40],
  ["neon-api-key", "napi_", "a-z0-9", 60],
  ["notion-api-token", "secret_", alphanumeric, 43],
  ["pinecone-api-key", "pcsk_", "\\w", 40],
  ["polar-access-token", "polar_oat_", alphanumeric, 32],
  ["render-api-key", "rnd_", alphanumeric, 28],
  ["snyk-api-token", "snyk_uat.", "\\w.-", 40],
  ["statsig-secret-key", "secret-", alphanumeric, 40],
  ["trigger-dev-secret-key", "tr_prod_ tr_dev_ tr_stg_", alphanumeric, 20],
  ["vercel-access-token", "vcp_ vca_ vci_ vcr_", alphanumeric, 40],
  ["vercel-ai-gateway-key", "vck_", alphanumeric, 40],
  ["wandb-api-key", "wandb_v1_", "\\w", 40],
];

/** A format of which a prefix and a length are not all. `start`: how it begins, after anything but a letter or digit. */
type Special = readonly [rule: string, hint: string, pattern: RegExp, start?: string];

const special: readonly Special[] = [
  ["sendgrid-api-token", "SG.", /(?<![A-Za-z0-9])SG\.[\w=-]{16,}\.[\w=-]{16,}/g, "SG\\."],
  ["mailgun-private-api-token", "key-", /(?<![A-Za-z0-9-])(?:pub)?key-[a-f0-9]{32}(?![A-Za-z0-9])/g, "(?:pub)?key-"],
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
  [
    "1password-secret-key",
    "A3-",
    /(?<![A-Za-z0-9])A3-[A-Z\d]{6}-(?:[A-Z\d]{11}|[A-Z\d]{6}-[A-Z\d]{5})(?:-[A-Z\d]{5}){3}(?![A-Za-z0-9])/g,
    "A3-",
  ],
  [
    "airtable-personal-access-token",
    "pat",
    /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[a-f0-9]{32,}/g,
    "pat[A-Za-z0-9]{14}\\.",
  ],
  [
    "authress-service-client-access-key",
    ".acc",
    /(?<![A-Za-z0-9])(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}/g,
  ],
  [
    "asana-personal-access-token",
    "/",
    /(?<![\w/])[12]\/\d{14,18}\/\d{14,18}:[a-f0-9]{32}(?![a-f0-9])/g,
    "[12]\\/\\d{14,18}\\/",
  ],
  ["azure-devops-token", "AZDO", /(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g],
  [
    "braintree-access-token",
    "access_token$",
    /(?<![A-Za-z0-9])access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}/g,
    "access_token\\$",
  ],
  ["beamer-api-token", "b_", /(?<![A-Za-z0-9])b_[\w=-]{44}(?![\w=-])/g, "b_"],
  ["cloudflare-origin-ca-key", "v1.0-", /(?<![A-Za-z0-9])v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}/g, "v1\\.0-"],
  [
    "discord-bot-token",
    ".",
    /(?<![\w-])[MNO][A-Za-z\d_-]{22,27}\.[\w-]{6}\.[\w-]{27,}/g,
    "[MNO][A-Za-z\\d_-]{22,27}\\.",
  ],
  ["discord-webhook", "/api/webhooks/", /(?<=\/api\/webhooks\/\d{10,22}\/)[\w-]{40,}/g],
  ["dropbox-short-lived-api-token", "sl.", /(?<![A-Za-z0-9])sl\.(?:u\.)?[\w=-]{100,}/g, "sl\\."],
  ["facebook-access-token", "", /(?<!\d)\d{15,16}(?:\||%(?:7[cC])?)[\w-]{27,40}(?![\w-])/g, "\\d{15,16}[|%]"],
  ["fcm-server-key", ":", /(?<![\w-])AAAA[\w-]{7}:[\w-]{100,}/g, "AAAA[\\w-]{7}:"],
  ["fcm-registration-token", ":APA91", /(?<![\w-])[\w-]{11,22}:APA91[\w-]{60,}/g],
  ["grafana-api-key", "eyJrIjoi", /(?<![A-Za-z0-9])eyJrIjoi[A-Za-z0-9]{60,}={0,3}/g, "eyJrIjoi"],
  ["harness-api-key", "at.", /(?<![A-Za-z0-9])[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/g, "[ps]at\\."],
  [
    "hubspot-private-app-token",
    "pat-",
    /(?<![A-Za-z0-9])pat-[a-z]{2,3}\d-[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g,
    "pat-",
  ],
  ["gitlab-session-cookie", "_gitlab_session=", /(?<=_gitlab_session=)[\da-z]{32}/g],
  [
    "launchdarkly-key",
    "-",
    /(?<![A-Za-z0-9])(?:sdk|api)-[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}(?![\w-])/g,
    "(?:sdk|api)-[\\da-f]{8}-",
  ],
  ["lob-api-key", "_", /(?<![A-Za-z0-9])(?:live|test)_(?:pub_)?[a-f0-9]{31,35}(?![A-Za-z0-9])/g, "(?:live|test)_"],
  ["mapbox-api-token", "pk.", /(?<![A-Za-z0-9])pk\.[A-Za-z0-9]{60}\.[A-Za-z0-9_-]{22}/g, "pk\\."],
  // Eight characters, then 24; a name such as `re_order_7` has fewer.
  ["resend-api-key", "re_", /(?<![A-Za-z0-9])re_(?:[A-Za-z0-9]{6,10}_)?[A-Za-z0-9]{20,}/g, "re_"],
  ["twitter-bearer-token", "AAAAAAAAAAAAAAAAAAAAAA", /(?<![A-Za-z0-9])A{22}[A-Za-z0-9%]{70,}/g, "A{22}"],
  ["yandex-access-token", "t1.", /(?<![A-Za-z0-9])t1\.[\w-]{1,400}={0,2}\.[\w-]{80,}={0,2}/g, "t1\\."],
  ["yandex-aws-access-token", "YC", /(?<![A-Za-z0-9])YC[\w-]{38}(?![\w-])/g, "YC"],
];

const formats: readonly Special[] = [
  ...[...prefixed, ...documented].flatMap(([rule, leads, chars, least]) =>
    leads.split(" ").map((lead): Special => {
      const start = escapedPattern(lead);
      return [rule, lead, new RegExp(`(?<![A-Za-z0-9])${start}[${chars}]{${least},}`, "g"), start];
    }),
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

export const mayHaveToken = (text: string): boolean =>
  anyStart.test(text) || otherHints.some((hint) => text.includes(hint));
