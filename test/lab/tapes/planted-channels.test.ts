import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { grep } from "./redact/exchanges.ts";

/** Each secret is put together here, is different, and has this in it. */
let count = 0;
const mark = (length: number): string => {
  const number = String(++count).padStart(3, "0");
  return `Q7${number}${"aZ9xW3bY8vU4cT7s".repeat(12)}`.slice(0, length);
};
const hex = (length: number): string =>
  `${String(++count).padStart(3, "0")}${"0a1b2c3d4e5f6789".repeat(12)}`.slice(0, length);

const keys = { personal: () => `phx_${mark(40)}`, secret: () => `phs_${mark(40)}` };
/** Secrets that are recognized by their form. */
const tokens: Record<string, () => string> = {
  ...keys,
  anthropic: () => `sk-ant-api03-${mark(40)}-_${mark(50)}AA`,
  "anthropic admin": () => `sk-ant-admin01-${mark(90)}AA`,
  openai: () => `sk-proj-${mark(40)}-${mark(40)}`,
  atlassian: () => `ATATT3${mark(120)}`,
  "stripe webhook": () => `whsec_${mark(32)}`,
  stripe: () => `sk_live_${mark(24)}`,
  supabase: () => `sbp_${hex(40)}`,
  resend: () => `re_${mark(8)}_${mark(24)}`,
  discord: () => `MT${mark(22)}.G-_${mark(3)}.${mark(38)}`,
  fcm: () => `AAAA${mark(7)}:APA91${mark(135)}`,
  github: () => `ghp_${mark(36)}`,
  slack: () => `xoxb-${mark(40)}`,
  aws: () => `AKIA${mark(16).toUpperCase()}`,
  google: () => `AIza${mark(35)}`,
  jwt: () => `eyJ${mark(20)}.eyJ${mark(20)}.${mark(20)}`,
};
/** Names under which anything is a secret. */
const names = ["password", "pin", "recovery_code", "client_secret", "otp", "cvv", "X-Amz-Signature", "access_token"];

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const json = (value: unknown): string => JSON.stringify(value);

interface Planted {
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A request for each way in which a text can travel. `name` is that of the field; it may be a secret's own. */
const channels: Record<string, (text: string, name: string) => Planted> = {
  "a header": (text, name) => ({ path: "/e/", headers: { [`x-${name.replaceAll("_", "-")}`]: text } }),
  "a bearer": (text) => ({ path: "/e/", headers: { authorization: `Bearer ${text}` } }),
  "a cookie": (text, name) => ({ path: "/e/", headers: { cookie: `theme=dark; ${name}=${text}` } }),
  "a query": (text, name) => ({ path: `/e/?a=1&${name}=${encodeURIComponent(text)}` }),
  "a path": (text) => ({ path: `/x/${encodeURIComponent(text)}/y` }),
  "a form": (text, name) => ({
    path: "/e/",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `a=1&${name}=${encodeURIComponent(text)}`,
  }),
  "data in a form": (text, name) => ({
    path: "/e/",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `data=${encodeURIComponent(base64(json({ event: "e", properties: { [name]: text } })))}`,
  }),
  JSON: (text, name) => ({ path: "/e/", body: json({ event: "e", properties: { a: [{ [name]: text }] } }) }),
  "JSON in JSON": (text, name) => ({
    path: "/e/",
    body: json({ properties: { note: json({ a: json({ [name]: text }) }) } }),
  }),
  "base64 of JSON": (text, name) => ({
    path: "/e/",
    body: json({ properties: { note: base64(json({ [name]: text })) } }),
  }),
  "base64url of JSON": (text, name) => ({
    path: "/e/",
    body: json({ properties: { note: Buffer.from(json({ [name]: text })).toString("base64url") } }),
  }),
  "gzip and base64": (text, name) => ({
    path: "/e/",
    body: json({ properties: { note: gzipSync(json({ [name]: text })).toString("base64") } }),
  }),
  "a gzip body": (text, name) => ({
    path: "/e/?compression=gzip-js",
    headers: { "content-encoding": "gzip" },
    body: gzipSync(json({ properties: { [name]: text } })),
  }),
  multipart: (text, name) => ({
    path: "/e/",
    headers: { "content-type": "multipart/form-data; boundary=xyz" },
    body: `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n--xyz--\r\n`,
  }),
  "broken JSON": (text, name) => ({ path: "/e/", body: json({ properties: { [name]: text } }).slice(0, -1) }),
};
/** Ways in which a token travels without a field for it. */
const bare: Record<string, (text: string) => Planted> = {
  prose: (text) => ({ path: "/e/", body: json({ event: `so ${text}`, properties: { note: `it is ${text}, see` } }) }),
  "a property's name": (text) => ({
    path: "/e/",
    body: json({ properties: { [text]: 1, $set: { [`of ${text}`]: 1 } } }),
  }),
  base64: (text) => ({ path: "/e/", body: json({ properties: { note: base64(text) } }) }),
  "a Referer": (text) => ({ path: "/e/", headers: { referer: `https://app.test/cb?x=${text}` } }),
  "a login": (text) => ({ path: "/e/", body: json({ properties: { url: `https://anna:${text}@db.test/x` } }) }),
};

const folderFor = (): string => {
  const folder = newFolder();
  return folder;
};
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => readFileSync(join(it.parentPath, it.name)).toString("latin1"));

const sent: unknown[] = [];

async function send(url: string, { path, headers = {}, body }: Planted): Promise<string> {
  sent.push(path, headers, body?.toString("latin1"));
  const method = body === undefined ? "GET" : "POST";
  const all = { ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  const response = await fetch(url + path, {
    method,
    redirect: "manual",
    headers: all,
    ...(body !== undefined && { body }),
  });
  return response.text();
}

/** An upstream whose answers repeat a text in all the ways that an answer has. */
async function leakyUpstream(text: () => string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const secret = text();
      response.setHeader("set-cookie", `session=${secret}; Path=/`);
      response.setHeader("location", `https://app.test/callback?code=${secret}&state=1#access_token=${secret}`);
      response.setHeader("x-note", `for ${secret}`);
      response.setHeader("content-type", "application/json");
      response.end(
        json({
          detail: `no ${secret}`,
          recovery_codes: [secret],
          url: `https://s3.test/a?X-Amz-Signature=${secret}&sig=${secret}`,
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a tape has none of the planted secrets, whatever they travel in", async () => {
  const planted = new Map<string, string>();
  const plant = (where: string, text: string): string => {
    planted.set(where, text);
    return text;
  };
  const folder = folderFor();
  const notices: string[] = [];
  const upstream = await leakyUpstream(() => plant(`an answer ${planted.size}`, `ghp_${mark(36)}`));
  await using recording = await startSim({
    upstream,
    tape: join(folder, "a.tape.ndjson"),
    onNotice: (text) => notices.push(text),
  });
  for (const [channel, make] of Object.entries(channels)) {
    for (const [kind, token] of Object.entries(tokens))
      await send(recording.url, make(plant(`${kind} in ${channel}`, token()), "note"));
    for (const name of channel === "a path" || channel === "a bearer" ? [] : names)
      await send(recording.url, make(plant(`${name} in ${channel}`, `so-${mark(16)}!`), name));
  }
  for (const [channel, make] of Object.entries(bare))
    for (const [kind, token] of Object.entries(tokens))
      await send(recording.url, make(plant(`${kind} in ${channel}`, token())));
  await recording.close();
  // the search finds each secret in what was sent
  const isSent = grep(sent);
  expect([...planted].filter(([where, it]) => !where.startsWith("an answer") && !isSent(it))).toEqual([]);
  const found = grep([...filesIn(folder), ...notices]);
  expect([...planted].filter(([, secret]) => found(secret)).map(([where]) => where)).toEqual([]);
  expect(planted.size).toBeGreaterThan(700);
});

test("the data folder, HAR, lists, state and tools for agents have none of the service's secret keys", async () => {
  const planted = new Map<string, string>();
  const folder = folderFor();
  const notices: string[] = [];
  const seen: string[] = [];
  {
    await using sim = await startSim({ data: folder, onNotice: (text) => notices.push(text) });
    const paths = { note: "/e/" };
    for (const [channel, make] of Object.entries({ ...channels, ...bare })) {
      for (const [kind, key] of Object.entries(keys)) {
        const secret = key();
        planted.set(`${kind} in ${channel}`, secret);
        const request = make(secret, "note");
        const isJson = typeof request.body === "string" && request.body.startsWith("{") && channel !== "broken JSON";
        // as an event that is kept, and as it is
        const body = isJson
          ? json({ api_key: sim.apiKey, event: "e", distinct_id: "u", ...JSON.parse(String(request.body)) })
          : request.body;
        seen.push(
          await send(sim.url, { ...request, path: request.path || paths.note, ...(body !== undefined && { body }) }),
        );
      }
    }
    for (const path of [
      "events?limit=1000",
      "requests?limit=1000",
      "requests.har",
      "persons",
      "state",
      "lint",
      "info",
      "events/totals",
    ])
      seen.push(await send(`${sim.url}/__sim/`, { path }));
    const params = { name: "events_since", arguments: { limit: 200, max_bytes: 20_000 } };
    seen.push(
      await send(sim.url, { path: "/__sim/mcp", body: json({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) }),
    );
    expect((await sim.events.list({ limit: 1_000 })).length).toBeGreaterThan(15);
  }
  const found = grep([...filesIn(folder), ...notices, ...seen]);
  expect([...planted].filter(([, secret]) => found(secret)).map(([where]) => where)).toEqual([]);
});

test("what the management API returns is in the journal without the service's secret keys", async () => {
  await using sim = await startSim();
  const key = keys.personal();
  const response = await fetch(`${sim.url}/api/projects/${sim.projectId}/feature_flags/`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${sim.personalApiKey}` },
    body: json({ key: "f", name: `with ${key} and ${base64(key)}` }),
  });
  expect(await response.json()).toMatchObject({ name: `with ${key} and ${base64(key)}` });
  for (const path of ["requests.har", "requests/1"]) {
    const text = await send(`${sim.url}/__sim/`, { path });
    expect(text).toContain("with phx_***");
    expect(grep(text)(key)).toBe(false);
  }
});
