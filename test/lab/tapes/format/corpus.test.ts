import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import type { RecordingFacts } from "../../../../src/lab/tapes/client.ts";
import { scanTape } from "../../../../src/lab/tapes/redact/scan-tape.ts";
import { newFolder } from "../../../support/folder.ts";
import { grep } from "../redact/exchanges.ts";

/** The secrets of one row: each row has its own, so that none is known from another one. */
interface Secrets {
  personal: string;
  secret: string;
  project: string;
  password: string;
  bearer: string;
}

function secretsOf(row: string): Secrets {
  const of = (kind: string) => createHash("sha512").update(`${row} ${kind}`).digest("hex");
  return {
    personal: `phx_${of("personal").slice(0, 43)}`,
    secret: `phs_${of("secret").slice(0, 43)}`,
    project: `phc_${of("project").slice(0, 43)}`,
    password: `horse/${of("password").slice(0, 20)}+7`,
    bearer: `oat-${of("bearer").slice(0, 40)}`,
  };
}

interface Sent {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const event = ({ personal, secret, project, password, bearer }: Secrets) => ({
  api_key: project,
  event: "leaked",
  distinct_id: "u1",
  properties: {
    personal_api_key: personal,
    password,
    note: `use ${secret} or "Bearer ${bearer}"`,
    $current_url: `https://app.test/?personal_api_key=${personal}&password=${encodeURIComponent(password)}`,
  },
});
const text = (all: Secrets): string => JSON.stringify(event(all));
const base64 = (plain: string): string => Buffer.from(plain).toString("base64");
const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

const part = (name: string, content: string | Buffer, more = ""): Buffer =>
  Buffer.concat([
    Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
const parts = (...all: Buffer[]): Buffer => Buffer.concat([...all, Buffer.from("--xyz--\r\n")]);
const multipart = { "content-type": "multipart/form-data; boundary=xyz" };

const destination = ({ password, secret, personal, bearer }: Secrets) => ({
  name: "nightly",
  destination: {
    type: "Postgres",
    config: { user: `user-${personal}`, password, host: "db.test", aws_secret_access_key: bearer },
  },
  hog: { inputs: { headers: { value: { Authorization: `Bearer ${secret}` } } } },
});

/** Where secrets can stand in a request. */
const corpus: Record<string, (all: Secrets) => Sent> = {
  headers: ({ personal, secret, bearer, password, project }) => ({
    path: "/api/projects/1/dashboards/",
    headers: {
      authorization: `Bearer ${personal}`,
      "x-api-key": secret,
      "proxy-authorization": `Basic ${base64(`me:${password}`)}`,
      cookie: `sessionid=${bearer}; token=${project}`,
    },
  }),
  "an opaque bearer": ({ bearer }) => ({
    path: "/api/users/@me/",
    headers: { authorization: `Bearer ${bearer}`, "x-custom-token": bearer },
  }),
  "the query": ({ personal, secret, project, password, bearer }) => ({
    path: `/api/projects/1/insights/?personal_api_key=${personal}&secret=${secret}&token=${project}&password=${encodeURIComponent(password)}&access_token=${bearer}`,
  }),
  "the query, in base64 and percent": (all) => ({ path: `/e/?data=${encodeURIComponent(base64(text(all)))}&_=1` }),
  "the query of a redirect": ({ personal, bearer }) => ({
    path: `/login?next=${encodeURIComponent(`/x?personal_api_key=${personal}&access_token=${bearer}`)}`,
    headers: { referer: `https://me:${bearer}@app.test/?personal_api_key=${personal}` },
  }),
  "the path": ({ personal, project }) => ({ path: `/array/${project}/config?x=${personal}` }),
  JSON: (all) => ({ path: "/capture/", method: "POST", headers: json, body: text(all) }),
  "JSON in JSON": (all) => ({
    path: "/batch/",
    method: "POST",
    headers: json,
    body: JSON.stringify({ api_key: all.project, batch: [{ ...event(all), properties: { inner: text(all) } }] }),
  }),
  "large JSON": (all) => ({
    path: "/batch/",
    method: "POST",
    headers: json,
    body: JSON.stringify({ api_key: all.project, batch: [event(all)], filler: "filler ".repeat(20_000) }),
  }),
  "broken JSON": (all) => ({ path: "/e/", method: "POST", headers: json, body: text(all).slice(0, -9) }),
  "JSON with odd escapes": (all) => ({
    path: "/e/",
    method: "POST",
    headers: json,
    body: text(all).replaceAll("ph", "\\u0070h"),
  }),
  "a destination's password": (all) => ({
    path: "/api/projects/1/batch_exports/",
    method: "POST",
    headers: { ...json, authorization: `Bearer ${all.personal}` },
    body: JSON.stringify(destination(all)),
  }),
  "a destination, gzipped": (all) => ({
    path: "/api/projects/1/batch_exports/7/",
    method: "PATCH",
    headers: { ...json, "content-encoding": "gzip" },
    body: gzipSync(JSON.stringify(destination(all))),
  }),
  "a form": ({ personal, password, project, secret }) => ({
    path: "/decide/",
    method: "POST",
    headers: form,
    body: new URLSearchParams({
      personal_api_key: personal,
      password,
      token: project,
      note: `it is ${secret}`,
    }).toString(),
  }),
  "a form with base64": (all) => ({
    path: "/e/",
    method: "POST",
    headers: form,
    body: `data=${encodeURIComponent(base64(text(all)))}`,
  }),
  base64: (all) => ({
    path: "/e/?compression=base64",
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: base64(text(all)),
  }),
  gzip: (all) => ({
    path: "/batch/",
    method: "POST",
    headers: { ...json, "content-encoding": "gzip" },
    body: gzipSync(text(all)),
  }),
  "gzip that only the query reports": (all) => ({
    path: "/i/v0/e/?compression=gzip-js",
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: gzipSync(text(all)),
  }),
  "gzip in base64": (all) => ({
    path: "/e/?compression=gzip-js",
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: gzipSync(text(all)).toString("base64"),
  }),
  "gzip, cut off": (all) => ({
    path: "/s/",
    method: "POST",
    headers: { "content-encoding": "gzip" },
    body: gzipSync(text(all)).subarray(0, -12),
  }),
  deflate: (all) => ({
    path: "/e/",
    method: "POST",
    headers: { ...json, "content-encoding": "deflate" },
    body: deflateSync(text(all)),
  }),
  brotli: (all) => ({
    path: "/e/",
    method: "POST",
    headers: { ...json, "content-encoding": "br" },
    body: brotliCompressSync(text(all)),
  }),
  multipart: (all) => ({
    path: "/i/v0/ai",
    method: "POST",
    headers: multipart,
    body: parts(
      part("event", text(all)),
      part("password", all.password),
      part("event.properties.$ai_input", gzipSync(text(all)), '; filename="input.gz"'),
    ),
  }),
  text: ({ personal, secret, bearer }) => ({
    path: "/api/notes",
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: `key ${personal}, other ${secret}, header Authorization: Bearer ${bearer}`,
  }),
  bytes: ({ personal }) => ({
    path: "/api/upload",
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: Buffer.concat([Buffer.from([0, 255, 254, 1]), Buffer.from(personal), Buffer.from([0, 200])]),
  }),
};
const rows = Object.entries(corpus).map(([row, make]) => ({ row, secrets: secretsOf(row), make }));

const folder = newFolder();
const tape = join(folder, "all.tape.ndjson");
const data = join(folder, "data");

/** Repeats its input: whatever hides in a request hides in an answer as well. */
const echo = createServer(async (asked, response) => {
  const body = await buffer(asked);
  const { "content-type": type, "content-encoding": encoding, cookie } = asked.headers;
  response.writeHead(200, {
    "content-type": type ?? "application/json",
    ...(encoding !== undefined && { "content-encoding": encoding }),
    ...(cookie !== undefined && { "set-cookie": `${cookie}; Path=/` }),
    location: asked.url ?? "/",
  });
  response.end(body);
});

let facts: RecordingFacts;

async function send(sim: Sim, { path, method = "GET", headers = {}, body }: Sent): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const sent = request(`${sim.url}${path}`, { method, headers }, (response) => {
      buffer(response).then(() => resolve(), reject);
    });
    sent.on("error", reject).end(body);
  });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  const { port } = echo.address() as AddressInfo;
  const sim = await startSim({ mode: "record", upstream: `http://127.0.0.1:${port}`, tape, data });
  for (const { make, secrets } of rows) await send(sim, make(secrets));
  await sim.settle({ idleMs: 0 });
  facts = await sim.recording.stop();
  await sim.close();
});

afterAll(async () => {
  await new Promise<void>((resolve) => {
    echo.close(() => resolve());
    echo.closeAllConnections();
  });
});

const unzipped = (bytes: Buffer): Buffer => {
  try {
    return bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
  } catch {
    return bytes;
  }
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
};

/** Bytes that the log keeps as they came; the grep itself does not know brotli. */
function unbrotlied(line: string): string {
  const [, base64 = ""] = /"raw":\{"base64":"([^"]+)"/.exec(line) ?? [];
  try {
    return brotliDecompressSync(Buffer.from(base64, "base64")).toString("latin1");
  } catch {
    return "";
  }
}

interface Written {
  file: string;
  /** The bytes, each line as its bytes are and as what it says as JSON. */
  lines: unknown[];
}

const written = (): Written[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => {
      const path = join(it.parentPath, it.name);
      const bytes = unzipped(readFileSync(path)).toString("latin1");
      return {
        file: path.slice(folder.length + 1),
        lines: bytes.split("\n").flatMap((line) => [line, parsed(line), unbrotlied(line)]),
      };
    });

test("everything is on the tape and in the log", async () => {
  expect(facts).toMatchObject({ passed: rows.length, taped: rows.length, failed: 0, trouble: null });
  const files = written().map(({ file }) => file);
  expect(files).toContain("all.tape.ndjson");
  expect(files.filter((it) => it.startsWith("all.tape.d")).length).toBeGreaterThan(0);
  expect(files).toContain(join("data", "traffic.ndjson"));
  for await (const found of scanTape(tape)) expect(found).toBeUndefined();
});

/**
 * The data folder has the app's own events as they were sent, but for keys of the service and what management calls
 * hide; it must know the projects' public keys. A tape has nothing of the kind.
 */
const isHidden = (file: string, row: string, kind: string): boolean =>
  !file.startsWith("data") || kind === "personal" || kind === "secret" || (kind === "password" && managed.has(row));
const managed = new Set(["headers", "the query", "a destination's password", "a destination, gzipped"]);

test("no byte on the disk reports a secret", () => {
  const found = written().flatMap(({ file, lines }) => {
    const reports = grep(lines);
    return rows.flatMap(({ row, secrets }) =>
      Object.entries(secrets).flatMap(([kind, secret]) =>
        isHidden(file, row, kind) && reports(secret) ? [`${file}: ${row}: ${kind}`] : [],
      ),
    );
  });
  expect(found).toEqual([]);
});

/** What cannot be opened without knowing how. */
const closed = new Set(["brotli", "gzip, cut off"]);

test.each(rows.filter(({ row }) => !closed.has(row)))("the grep would have found it: $row", ({ make, secrets }) => {
  const { path, headers = {}, body = "" } = make(secrets);
  const sent = [path, ...Object.values(headers), Buffer.from(body).toString("latin1")];
  expect(Object.values(secrets).filter(grep(sent))).not.toEqual([]);
});
