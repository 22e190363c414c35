import { expect, test } from "vitest";
import { shapesOf } from "../../../src/tapes/redact/shapes.ts";
import { tokenFormats } from "../../../src/tapes/redact/token-formats.ts";

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
};

/** Kind, how it begins, how many characters follow at least, and of which class. */
const rows = `
  1password_service_account_token ops_eyJ 100 base64
  adobe_client_secret p8e- 32 letters
  age_secret_key AGE-SECRET-KEY-1 40 capitals
  alibaba_access_key_id LTAI 20 letters
  artifactory_api_key AKCp 60 letters
  artifactory_reference_token cmVmd 59 letters
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
  flyio_access_token fo1_ 43 words
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
  linear_api_key lin_api_ 32 letters
  new_relic_insert_key NRII- 24 letters-
  new_relic_user_api_key NRAK- 24 letters
  notion_api_token ntn_ 40 letters
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
  sourcegraph_access_token sgp_ 40 word
  square_access_token sq0atp- 22 words
  stripe_access_token sk_prod_ 10 letters
  stripe_access_token rk_prod_ 10 letters
  typeform_api_token tfp_ 40 words=.
  vault_batch_token hvb. 90 words
  vault_service_token hvs. 60 words
`
  .trim()
  .split("\n")
  .map((line) => {
    const [kind = "", lead = "", least = "", name = ""] = line.trim().split(" ");
    const [own = "", other = ""] = classes[name] ?? [];
    return { kind, lead, least: Number(least), own, other };
  });

const specialKinds = 11;

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
