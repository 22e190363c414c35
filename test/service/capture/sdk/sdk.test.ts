import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isUuid } from "../../../../src/kernel/base/text.ts";
import { sdkEndpoints } from "../../../../src/service/capture/sdk/rows.ts";
import { resourceOf } from "../../../../src/state/documents/resources.ts";
import { aFlag, aPersonalApiKey, aProject } from "../../../support/documents.ts";
import { type Asked, aCall, aDesk, asker, aWorld } from "./ask.ts";

const other = aProject({ id: 2, api_key: "phc_other" });

const survey = { name: "NPS", type: "popover", questions: [], conditions: null };

const world = aWorld({
  projects: [aProject({ remote_config: { survey_config: { tone: "kind" } } }), other],
  personal_api_keys: [
    aPersonalApiKey({ key: "phx_all", scopes: ["*"] }),
    aPersonalApiKey({ key: "phx_writer", scopes: ["llm_prompt:write"] }),
    aPersonalApiKey({ key: "phx_flags", scopes: ["feature_flag:read"] }),
  ],
  feature_flags: [aFlag("linked", { id: 7 })],
  resources: [
    resourceOf("surveys", 1, "s1", { ...survey, description: "For us", linked_flag_id: 7, created_by: 1 }),
    resourceOf("surveys", 1, "s2", { archived: true }),
    resourceOf("surveys", 2, "s3", {}),
    resourceOf("early_access_features", 1, "e1", { stage: "beta", documentation_url: "d", feature_flag_id: 7 }),
    resourceOf("early_access_features", 1, "e2", { stage: "concept", flagKey: "authored" }),
    resourceOf("early_access_features", 2, "e3", { stage: "beta" }),
    resourceOf("experiments", 1, 4, { type: "web", variants: {}, feature_flag_id: 7, description: "d" }),
    resourceOf("experiments", 1, 5, { type: "web", archived: true }),
    resourceOf("experiments", 1, 6, { type: "product" }),
  ],
  product_tours: [{ project: 1, id: "t1" }],
  prompts: [
    { project: 1, name: "greet", prompt: "Hello v1", version: 1, label: "production" },
    { project: 1, name: "greet", prompt: "Hello v2", version: 2 },
    { project: 1, name: "bye", prompt: "Bye", version: 1 },
    { project: 2, name: "greet", prompt: "other", version: 9 },
  ],
});

const desk = await aDesk(world);
const ask = asker(sdkEndpoints(desk, []));

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const post = (body: unknown, headers: Record<string, string> = {}): Asked => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
});

const at = "2026-01-02T03:04:05.000Z";
const anyUuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
const prompts = "/api/environments/@current/llm_prompts";
const messaging = "/api/projects/@current/messaging";
const widget = "/api/conversations/v1/widget";

interface Row {
  what: string;
  target: string;
  asked?: Asked;
  body: unknown;
}

const answered: Row[] = [
  {
    what: "surveys, without archived and foreign ones",
    target: "/api/surveys/?token=phc_test&_=1",
    body: { surveys: [{ id: "s1", ...survey, linked_flag_key: "linked" }], survey_config: { tone: "kind" } },
  },
  {
    what: "surveys of another project",
    target: "/api/surveys?api_key=phc_other",
    body: { surveys: [{ id: "s3" }], survey_config: null },
  },
  {
    what: "early access features: betas by default",
    target: "/api/early_access_features/?token=phc_test",
    body: { earlyAccessFeatures: [{ id: "e1", stage: "beta", documentationUrl: "d", flagKey: "linked" }] },
  },
  {
    what: "early access features by repeated stage",
    target: "/api/early_access_features/?token=phc_test&stage=concept&stage=beta",
    body: {
      earlyAccessFeatures: [
        { id: "e1", stage: "beta", documentationUrl: "d", flagKey: "linked" },
        { id: "e2", stage: "concept", flagKey: "authored" },
      ],
    },
  },
  { what: "product tours", target: "/api/product_tours/?token=phc_test", body: { product_tours: [{ id: "t1" }] } },
  {
    what: "web experiments",
    target: "/api/web_experiments/?token=phc_test",
    body: { experiments: [{ id: 4, variants: {}, feature_flag_key: "linked" }] },
  },
  ...["/i/v1/logs", "/i/v1/metrics", "/i/v1/traces"].map((path) => ({
    what: `${path}, key in the query`,
    target: `${path}?token=phc_test`,
    asked: post({ resourceLogs: [] }),
    body: {},
  })),
  {
    what: "traces, key as bearer",
    target: "/i/v1/traces",
    asked: post({ resourceSpans: [] }, bearer("phc_test")),
    body: {},
  },
  {
    what: "logs as gzip declared as text",
    target: "/i/v1/logs?token=phc_test",
    asked: post(gzipSync('{"resourceLogs":[]}'), { "content-type": "text/plain" }),
    body: {},
  },
  {
    what: "the newest prompt of a name",
    target: `${prompts}/name/greet/?token=phc_test`,
    asked: { headers: bearer("phx_all") },
    body: { name: "greet", prompt: "Hello v2", version: 2 },
  },
  {
    what: "a prompt by version",
    target: `${prompts}/name/greet/?token=phc_test&version=1`,
    asked: { headers: bearer("phx_writer") },
    body: { name: "greet", prompt: "Hello v1", version: 1, label: "production" },
  },
  {
    what: "a prompt by label",
    target: `${prompts}/name/greet/?token=phc_test&label=production`,
    asked: { headers: bearer("phs_test") },
    body: { name: "greet", prompt: "Hello v1", version: 1, label: "production" },
  },
  {
    what: "a prompt of another project, by its number",
    target: "/api/projects/2/llm_prompts/name/greet",
    asked: { headers: bearer("phx_all") },
    body: { name: "greet", prompt: "other", version: 9 },
  },
  {
    what: "a prompt of the project whose secret key is used",
    target: `${prompts}/name/greet`,
    asked: { headers: bearer("phs_other") },
    body: { name: "greet", prompt: "other", version: 9 },
  },
  {
    what: "all prompts, newest versions",
    target: `${prompts}/?token=phc_test&content=full`,
    asked: { headers: bearer("phx_all") },
    body: {
      count: 2,
      next: null,
      previous: null,
      results: [
        { name: "greet", prompt: "Hello v2", version: 2 },
        { name: "bye", prompt: "Bye", version: 1 },
      ],
    },
  },
  {
    what: "a push subscription",
    target: "/api/push_subscriptions/",
    asked: post({ api_key: "phc_test", distinct_id: "u", device_token: "d", platform: "ios" }),
    body: { status: "ok" },
  },
  {
    what: "the end of a push subscription",
    target: "/api/push_subscriptions/",
    asked: { ...post({ api_key: "phc_test", distinct_id: "u", device_token: "d" }), method: "DELETE" },
    body: { status: "ok" },
  },
  {
    what: "an email",
    target: `${messaging}/send/email/`,
    asked: post({ to: "a@example.com", template: "t" }, bearer("phs_test")),
    body: { message_id: anyUuid, replayed: false, warnings: [expect.objectContaining({ code: "not_delivered" })] },
  },
  {
    what: "messaging preferences",
    target: `${messaging}/preferences/`,
    asked: post({ identifier: "a@example.com", topics: { news: false } }, bearer("phs_test")),
    body: { identifier: "a@example.com", all_marketing: null, topics: { news: false } },
  },
  {
    what: "a message from the support widget",
    target: `${widget}/message`,
    asked: post({ message: "help" }),
    body: { ticket_id: anyUuid, message_id: anyUuid, ticket_status: "new", created_at: at, unread_count: 0 },
  },
  {
    what: "a further message on a ticket",
    target: `${widget}/message`,
    asked: post({ message: "help", ticket_id: "T" }),
    body: expect.objectContaining({ ticket_id: "T" }),
  },
  {
    what: "the messages of a ticket",
    target: `${widget}/messages/T?limit=50`,
    body: { ticket_id: "T", ticket_status: "new", messages: [], has_more: false, unread_count: 0 },
  },
  {
    what: "messages marked as read",
    target: `${widget}/messages/T/read`,
    asked: post({ widget_session_id: "w" }),
    body: { success: true, unread_count: 0 },
  },
  { what: "tickets", target: `${widget}/tickets?limit=20`, body: { count: 0, results: [] } },
  {
    what: "a session to restore",
    target: `${widget}/restore`,
    asked: post({ restore_token: "r" }),
    body: { status: "invalid", code: "not_emulated" },
  },
  {
    what: "a restore link",
    target: `${widget}/restore/request`,
    asked: post({ email: "a@example.com" }),
    body: { ok: true },
  },
];

describe("answers", () => {
  test.each(answered)("$what", async ({ target, asked, body }) => {
    const answer = await ask(target, asked);
    expect(answer.json()).toEqual(body);
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/json");
  });

  test("a protobuf request has a protobuf answer", async () => {
    const headers = { "content-type": "application/x-protobuf", ...bearer("phc_test") };
    const answer = await ask("/i/v1/traces", { method: "POST", headers, body: Buffer.from([10, 0]) });
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(answer.header("content-type")).toBe("application/x-protobuf");
  });

  test("an accepted email stays queued since the moment it was sent", async () => {
    const sent = await ask(`${messaging}/send/email/`, post({ to: "a@example.com" }, bearer("phs_test")));
    const { message_id: id } = sent.json() as { message_id: string };
    expect(isUuid(id)).toBe(true);
    const status = await ask(`${messaging}/emails/${id}/`, { headers: bearer("phs_test") });
    expect(status.json()).toEqual({ id, status: "queued", created_at: at, status_at: at, reason: null });
  });

  test.each(["/site_app/1", "/site_app/1/tok/hash/"])("%s is a script", async (target) => {
    const answer = await ask(target);
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toMatch(/^application\/javascript/);
  });

  test("the journal records whose call it was and what the body said, on one line", async () => {
    const body = gzipSync('{\n  "resourceLogs": []\n}');
    const answer = await ask("/i/v1/logs?token=phc_other", post(body));
    expect(answer.note).toEqual({ project: 2, steps: ["gzip"], text: '{"resourceLogs":[]}' });
  });
});

const missing = [401, "authentication_error", "missing_api_key"] as const;
const invalid = [401, "authentication_error", "invalid_api_key"] as const;
const unauthenticated = [401, "authentication_error", "not_authenticated"] as const;
const badKey = [401, "authentication_error", "authentication_failed"] as const;
const forbidden = [403, "authentication_error", "permission_denied"] as const;
const unparsable = [400, "invalid_request", "parse_error"] as const;
const required = [400, "validation_error", "required"] as const;
const notFound = [404, "invalid_request", "not_found"] as const;

type Failure = readonly [status: number, type: string, code: string];

const lists = ["surveys", "early_access_features", "product_tours", "web_experiments"];

const refused: (readonly [what: string, target: string, asked: Asked, failure: Failure])[] = [
  ...lists.map((list) => [`${list} without a key`, `/api/${list}/`, {}, missing] as const),
  ...lists.map((list) => [`${list}, unknown key`, `/api/${list}/?token=phc_no`, {}, invalid] as const),
  ["an empty key", "/api/surveys/?token=", {}, missing],
  ["logs without a key", "/i/v1/logs", post({}), missing],
  ["logs, unknown key", "/i/v1/logs?token=phc_no", post({}), invalid],
  ["traces, unknown bearer", "/i/v1/traces", post({}, bearer("phc_no")), invalid],
  ["logs that are no JSON", "/i/v1/logs?token=phc_test", post("{"), unparsable],
  ["damaged gzip", "/i/v1/logs?token=phc_test", post(Buffer.from([0x1f, 0x8b, 1])), unparsable],
  ["too deep", "/i/v1/logs?token=phc_test", post("[".repeat(200) + "]".repeat(200)), unparsable],
  [
    "a decompression bomb",
    "/i/v1/logs?token=phc_test",
    post(gzipSync(Buffer.alloc(21 * 1024 * 1024, 32))),
    [413, "validation_error", "payload_too_large"],
  ],
  ["prompts without credentials", `${prompts}/?token=phc_test`, {}, unauthenticated],
  ["prompts, unknown key", `${prompts}/?token=phc_test`, { headers: bearer("phx_no") }, badKey],
  ["prompts, missing scope", `${prompts}/?token=phc_test`, { headers: bearer("phx_flags") }, forbidden],
  ["prompts, foreign secret", `${prompts}/?token=phc_test`, { headers: bearer("phs_other") }, forbidden],
  ["prompts, unknown token", `${prompts}/?token=phc_no`, { headers: bearer("phx_all") }, invalid],
  ["prompts, no project", "/api/projects/9/llm_prompts", { headers: bearer("phx_all") }, notFound],
  ["an unknown prompt", `${prompts}/name/no/?token=phc_test`, { headers: bearer("phx_all") }, notFound],
  ["an unknown version", `${prompts}/name/greet/?token=phc_test&version=3`, { headers: bearer("phx_all") }, notFound],
  ["push without a key", "/api/push_subscriptions", post({ distinct_id: "u", device_token: "d" }), missing],
  ["push without a body", "/api/push_subscriptions", post(""), unparsable],
  ["push without a device", "/api/push_subscriptions", post({ api_key: "phc_test", distinct_id: "u" }), required],
  ["email without credentials", `${messaging}/send/email/`, post({ to: "a" }), unauthenticated],
  ["email without `to`", `${messaging}/send/email/`, post({}, bearer("phs_test")), required],
  ["preferences for no one", `${messaging}/preferences`, post({}, bearer("phs_test")), required],
  ["widget message without text", `${widget}/message`, post({}), required],
  ["config of an unknown key", "/array/phc_no/config", {}, notFound],
  ["config.js of an unknown key", "/array/phc_no/config.js", {}, notFound],
  ["array.js of an unknown key", "/array/phc_no/array.js", {}, notFound],
];

describe("refusals", () => {
  test("a refusal is journaled as the project's", async () => {
    const endpoint = sdkEndpoints(desk, []).find((it) => it.path === "/i/v1/logs");
    const call = aCall("/i/v1/logs?token=phc_other", post("{"));
    expect(() => endpoint?.handle(call)).toThrow();
    expect(call.record).toEqual({ project: 2 });
  });

  test.each(refused)("%s", async (_what, target, asked, [status, type, code]) => {
    const answer = await ask(target, asked);
    expect(answer.json()).toMatchObject({ type, code, detail: expect.any(String) });
    expect(answer.json()).toHaveProperty("attr");
    expect(answer.status).toBe(status);
  });
});
