import { expect, test } from "vitest";
import { shapesOf } from "../../../../src/lab/tapes/redact/shapes.ts";
import { tokenFormats } from "../../../../src/lab/tapes/redact/token-formats.ts";

/** Each character that a class has, and one that it has not. */
const classes: Readonly<Record<string, readonly [own: string, other: string]>> = {
  letters: ["a1B2cZ9", "-"],
  "letters-": ["a1-B2", "_"],
  "letters.": ["a1.B2", "-"],
  small: ["a1z9", "B"],
  capitals: ["A1Z9", "b"],
  hex: ["0a1B9fF", "g"],
  "hex-": ["0a-1F9", "g"],
  word: ["a_1Z9", "-"],
  words: ["a_-1Z9", "."],
  "words=": ["a_-=1Z", "."],
  "words.": ["a_-.1Z", "="],
  "words=.": ["a_-.=1Z", "+"],
  base64: ["aB1+/=Z9", "_"],
  base64_: ["aB1+/=_Z9", "-"],
  "base64_-": ["aB1+/=_-Z9", "."],
  base64bare: ["aB1+/Z9", "="],
  small_: ["a1_z9", "B"],
  hex_: ["0a_1b9f", "F"],
};

/** Kind, how it begins, how many characters follow at least, and of which class. */
const rows = `
  1password_service_account_token ops_eyJ 100 base64
  adobe_client_secret p8e- 32 letters
  age_secret_key AGE-SECRET-KEY-1 40 capitals
  alibaba_access_key_id LTAI 20 letters
  artifactory_api_key AKCp 60 letters
  artifactory_reference_token cmVmd 59 letters
  atlassian_api_token ATATT3 40 words=
  aws_amazon_bedrock_api_key_long_lived ABSK 100 base64
  aws_amazon_bedrock_api_key_short_lived bedrock-api-key- 20 base64
  clickhouse_cloud_api_secret_key 4b1d 38 letters
  clojars_api_token CLOJARS_ 40 letters
  databricks_api_token dapi 32 hex-
  defined_networking_api_token dnkey- 40 words=
  digitalocean_access_token doo_v1_ 32 hex
  digitalocean_pat dop_v1_ 32 hex
  digitalocean_refresh_token dor_v1_ 32 hex
  doppler_api_token dp.pt. 40 letters
  duffel_api_token duffel_test_ 30 words=
  duffel_api_token duffel_live_ 30 words=
  dynatrace_api_token dt0c01. 60 letters.
  easypost_api_token EZAK 54 letters
  easypost_test_api_token EZTK 54 letters
  facebook_page_access_token EAAM 100 letters
  facebook_page_access_token EAAC 100 letters
  flutterwave_secret_key FLWSECK_TEST- 12 letters-
  flutterwave_secret_key FLWSECK- 32 letters-
  flutterwave_public_key FLWPUBK_TEST- 32 letters-
  flyio_access_token fo1_ 43 words
  flyio_access_token fm1a_ 100 base64
  flyio_access_token fm1r_ 100 base64
  flyio_access_token fm2_ 100 base64
  frameio_api_token fio-u- 40 words=
  gitlab_cicd_job_token glcbt- 16 words
  gitlab_deploy_token gldt- 16 words
  gitlab_feature_flag_client_token glffct- 16 words
  gitlab_feed_token glft- 16 words
  gitlab_incoming_mail_token glimt- 16 words
  gitlab_kubernetes_agent_token glagent- 30 words
  gitlab_oauth_app_secret gloas- 40 words
  gitlab_pat glpat- 16 words.
  gitlab_ptt glptt- 20 hex
  gitlab_rrt GR1348941 16 words
  gitlab_runner_authentication_token glrt- 16 words.
  gitlab_scim_token glsoat- 16 words
  grafana_cloud_api_token glc_ 32 base64
  grafana_service_account_token glsa_ 32 word
  heroku_api_key_v2 HRKU-AA 40 words
  huggingface_access_token hf_ 30 letters
  huggingface_organization_api_token api_org_ 30 letters
  infracost_api_token ico- 32 letters
  intra42_client_secret s-s4t2ud- 64 hex
  intra42_client_secret s-s4t2af- 64 hex
  linear_api_key lin_api_ 32 letters
  new_relic_browser_api_token NRJS- 19 hex
  new_relic_insert_key NRII- 24 letters-
  new_relic_user_api_key NRAK- 24 letters
  notion_api_token ntn_ 40 letters
  octopus_deploy_api_key API- 26 capitals
  npm_access_token npm_ 30 letters
  openshift_user_token sha256~ 43 words
  perplexity_api_key pplx- 40 letters
  planetscale_api_token pscale_tkn_ 32 words=.
  planetscale_oauth_token pscale_oauth_ 32 words=.
  planetscale_password pscale_pw_ 32 words=.
  postman_api_token PMAK- 40 hex-
  prefect_api_token pnu_ 36 letters
  pulumi_api_token pul- 40 hex
  pypi_upload_token pypi-AgEIcHlwaS5vcmc 20 words
  readme_api_token rdme_ 60 small
  rubygems_api_token rubygems_ 40 hex
  scalingo_api_token tk-us- 40 words
  sendinblue_api_token xkeysib- 60 letters-
  sentry_org_token sntrys_ 40 base64_
  sentry_user_token sntryu_ 40 hex
  settlemint_application_access_token sm_aat_ 16 letters
  settlemint_personal_access_token sm_pat_ 16 letters
  settlemint_service_access_token sm_sat_ 16 letters
  shippo_api_token shippo_live_ 30 hex
  shippo_api_token shippo_test_ 30 hex
  shopify_access_token shpat_ 30 hex
  shopify_custom_access_token shpca_ 30 hex
  shopify_private_app_access_token shppa_ 30 hex
  shopify_shared_secret shpss_ 30 hex
  slack_app_token xapp- 20 letters-
  sonar_api_token squ_ 40 hex
  sonar_api_token sqp_ 40 hex
  sonar_api_token sqa_ 40 hex
  sourcegraph_access_token sgp_ 40 word
  square_access_token sq0atp- 22 words
  square_access_token EAAA 56 words
  stripe_access_token sk_prod_ 10 letters
  stripe_access_token rk_prod_ 10 letters
  typeform_api_token tfp_ 40 words=.
  vault_batch_token hvb. 90 words
  vault_service_token hvs. 60 words
  yandex_api_key AQVN 35 words
  atlassian_bitbucket_token ATCTT3 40 words=
  bitbucket_app_password ATBB 28 letters
  bitbucket_data_center_token BBDC- 40 base64bare
  buildkite_api_token bkua_ 40 hex
  docker_access_token dckr_pat_ 24 words
  docker_access_token dckr_oat_ 24 words
  doppler_api_token dp.ct. 40 letters
  doppler_api_token dp.st. 40 words.
  doppler_api_token dp.sa. 40 letters
  figma_access_token figd_ 36 words
  gitlab_workspace_token glwt- 16 words
  google_client_secret GOCSPX- 24 words
  google_refresh_token 1//0 40 words
  groq_api_key gsk_ 40 letters
  langsmith_api_key lsv2_pt_ 32 hex_
  langsmith_api_key lsv2_sk_ 32 hex_
  linear_oauth_token lin_oauth_ 32 letters
  mapbox_secret_token sk.eyJ 40 words.
  netlify_access_token nfp_ 36 letters
  nvidia_api_key nvapi- 40 words
  replicate_api_token r8_ 37 letters
  square_application_secret sq0csp- 40 words
  stripe_webhook_secret whsec_ 16 base64_-
  supabase_access_token sbp_ 40 small_
  supabase_secret_key sb_secret_ 20 words
  tailscale_key tskey- 20 words
  tavily_api_key tvly- 24 words
  vercel_blob_token vercel_blob_rw_ 30 word
  xai_api_key xai- 60 letters
  apify_api_token apify_api_ 30 letters
  brevo_smtp_key xsmtpsib- 60 letters-
  cerebras_api_key csk- 40 letters
  circleci_personal_token CCIPAT_ 40 word
  circleci_project_token CCIPRJ_ 40 word
  contentful_personal_token CFPAT- 40 words
  deno_deploy_token ddp_ 36 letters
  e2b_api_key e2b_ 40 hex
  elevenlabs_api_key sk_ 48 hex
  fireworks_api_key fw_ 22 letters
  gitlab_runner_registration_token glrtr- 16 words
  inngest_signing_key signkey-prod- 32 hex
  inngest_signing_key signkey-test- 32 hex
  jina_api_key jina_ 40 letters
  neon_api_key napi_ 60 small
  notion_api_token secret_ 43 letters
  pinecone_api_key pcsk_ 40 word
  polar_access_token polar_oat_ 32 letters
  render_api_key rnd_ 28 letters
  snyk_api_token snyk_uat. 40 words.
  statsig_secret_key secret- 40 letters
  trigger_dev_secret_key tr_prod_ 20 letters
  trigger_dev_secret_key tr_dev_ 20 letters
  trigger_dev_secret_key tr_stg_ 20 letters
  vercel_access_token vcp_ 40 letters
  vercel_access_token vca_ 40 letters
  vercel_access_token vci_ 40 letters
  vercel_access_token vcr_ 40 letters
  vercel_ai_gateway_key vck_ 40 letters
  wandb_api_key wandb_v1_ 40 word
`
  .trim()
  .split("\n")
  .map((line) => {
    const [kind = "", lead = "", least = "", name = ""] = line.trim().split(" ");
    const [own = "", other = ""] = classes[name] ?? [];
    return { kind, lead, least: Number(least), own, other };
  });

const specialKinds = 36;

test("each format has its row, here or with the formats that have more than a prefix", () => {
  expect(rows.length).toBe(tokenFormats.length - specialKinds);
});

test.each(rows)("$kind: $lead", ({ kind, lead, least, own, other }) => {
  const token = lead + own.repeat(least).slice(0, least);
  const found = (text: string) => shapesOf(kind, `so: ${text}`);
  expect(found(`${token} .`)).toEqual([token]);
  expect(found(token.slice(0, -1))).toEqual([]);
  expect(found(token.slice(0, -1) + other)).toEqual([]);
  expect(found(`a${token}`)).toEqual([]);
  expect(found(lead.slice(1) + token.slice(lead.length))).toEqual([]);
});
