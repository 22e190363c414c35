import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

interface ProbeAnswer {
  readonly type: string;
  readonly body: Buffer;
}

/** A request as an SDK sends it, marked with an id. */
export interface Probe {
  /** 13 digits that begin with 9: in a header, in the query, in the body or in the path. */
  readonly id: string;
  readonly name: string;
  readonly method: "GET" | "POST" | "OPTIONS";
  /** Path and query below the proxy's prefix. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Sent in parts, without a length. */
  readonly isChunked: boolean;
  readonly answer: ProbeAnswer;
}

export const probeHeader = "x-phx-probe";

/** A project key that no project has. */
const tokenOf = (id: string): string => `phc_probe_${id}`;

interface Sent {
  readonly target: string;
  readonly type?: string;
  readonly encoding?: string;
  readonly body?: Buffer;
  readonly chunked?: true;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ProbeRow {
  readonly name: string;
  readonly method: Probe["method"];
  readonly sender: string;
  sends(id: string, origin: string): Sent;
  answers(id: string): ProbeAnswer;
}

const text = "text/plain;charset=UTF-8";
const jsonType = "application/json";
const form = "application/x-www-form-urlencoded";

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const jsonAnswer = (value: unknown): ProbeAnswer => ({ type: "application/json", body: json(value) });

const accepted = (id: string): ProbeAnswer => jsonAnswer({ status: 1, probe: id });

/** With letters of two, three and four bytes: what is decoded as text and written again shows. */
const eventOf = (id: string) => ({
  event: "phx-sim probe",
  distinct_id: `probe-${id}`,
  properties: { token: tokenOf(id), distinct_id: `probe-${id}`, city: "Zürich → 東京 🦔" },
});

const batchOf = (id: string): Buffer =>
  json({ api_key: tokenOf(id), batch: [eventOf(id)], sent_at: "2026-01-01T00:00:00.000Z" });

const flagsOf = (id: string): Buffer => json({ token: tokenOf(id), distinct_id: `probe-${id}`, groups: {} });

const flagsAnswer = (id: string): ProbeAnswer =>
  jsonAnswer({ flags: {}, errorsWhileComputingFlags: false, requestId: `00000000-0000-4000-8000-${id.slice(1)}` });

/** Id of an event, made of the probe's. */
const eventId = (id: string): string => `01990000-0000-7000-8000-${id.slice(1)}`;

/** Capture v1: the project key is in the header, and each event has a result. */
const v1 = (id: string, event: string) => ({
  type: jsonType,
  encoding: "gzip",
  headers: { authorization: `Bearer ${tokenOf(id)}`, "posthog-sdk-info": "posthog-node/6.0.0" },
  body: gzipSync(
    json({
      created_at: "2026-01-01T00:00:00.000Z",
      batch: [
        {
          uuid: eventId(id),
          event,
          distinct_id: `probe-${id}`,
          timestamp: "2026-01-01T00:00:00.000Z",
          properties: { city: "Zürich → 東京 🦔" },
        },
      ],
    }),
  ),
});

const v1Answer = (id: string): ProbeAnswer => jsonAnswer({ results: { [eventId(id)]: { result: "ok" } } });

const logsOf = (id: string): Buffer =>
  json({
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ severityText: "INFO", body: { stringValue: `probe ${id}` } }] }] }],
  });

const recordingSize = 5_000_000;

/** A recording of about 5 MB, compressed. */
function recordingOf(id: string): Buffer {
  const data = randomBytes(recordingSize).toString("base64");
  return gzipSync(
    json([
      { event: "$snapshot", properties: { $snapshot_data: [{ type: 2, data }], distinct_id: id, token: tokenOf(id) } },
    ]),
    { level: 1 },
  );
}

const scriptAnswer = (id: string): ProbeAnswer => ({
  type: "application/javascript; charset=utf-8",
  body: Buffer.from(`/* phx-sim probe ${id} */\n${"!function(){return '→ 東京'}();\n".repeat(2_000)}`),
});

/** The requests, in the order in which they are sent: those that carry no events come first. */
const rows: readonly ProbeRow[] = [
  {
    name: "config",
    method: "GET",
    sender: "posthog-js, js-lite, mobile",
    sends: (id) => ({ target: `/array/${tokenOf(id)}/config` }),
    answers: (id) => jsonAnswer({ token: tokenOf(id), supportedCompression: ["gzip", "gzip-js"] }),
  },
  {
    name: "config.js",
    method: "GET",
    sender: "posthog-js",
    sends: (id) => ({ target: `/array/${tokenOf(id)}/config.js` }),
    answers: scriptAnswer,
  },
  {
    name: "array.js",
    method: "GET",
    sender: "the snippet",
    sends: (id) => ({ target: `/static/array.js?v=${id}` }),
    answers: scriptAnswer,
  },
  {
    name: "recorder",
    method: "GET",
    sender: "posthog-js",
    sends: (id) => ({ target: `/static/1.449.2/lazy-recorder.js?v=${id}` }),
    answers: scriptAnswer,
  },
  {
    name: "surveys",
    method: "GET",
    sender: "posthog-js",
    sends: (id) => ({ target: `/api/surveys/?token=${tokenOf(id)}&ip=0&_=${id}&ver=1.449.2` }),
    answers: (id) => jsonAnswer({ surveys: [], probe: id }),
  },
  {
    name: "preflight",
    method: "OPTIONS",
    sender: "browsers, on pages of another origin",
    sends: (id, origin) => ({
      target: `/e/?_=${id}`,
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
    }),
    answers: () => ({ type: "", body: Buffer.alloc(0) }),
  },
  {
    name: "event",
    method: "POST",
    sender: "posthog-js in plain JSON",
    sends: (id) => ({ target: `/e/?ip=0&_=${id}&ver=1.449.2`, type: jsonType, body: batchOf(id) }),
    answers: accepted,
  },
  {
    name: "gzip",
    method: "POST",
    sender: "posthog-js 1.449",
    sends: (id) => ({ target: "/i/v0/e/", type: text, body: gzipSync(batchOf(id)) }),
    answers: accepted,
  },
  {
    name: "gzip-js",
    method: "POST",
    sender: "posthog-js before 1.449",
    sends: (id) => ({
      target: `/e/?compression=gzip-js&ip=0&_=${id}&ver=1.300.0`,
      type: text,
      body: gzipSync(json([{ ...eventOf(id), offset: 120 }])),
    }),
    answers: accepted,
  },
  {
    name: "no slash",
    method: "POST",
    sender: "mobile SDKs, custom clients",
    sends: (id) => ({ target: `/e?_=${id}`, type: text, body: gzipSync(batchOf(id)) }),
    answers: accepted,
  },
  {
    name: "beacon",
    method: "POST",
    sender: "posthog-js on unload",
    sends: (id) => ({ target: `/e/?_=${id}&beacon=1`, type: text, body: batchOf(id) }),
    answers: accepted,
  },
  {
    name: "form",
    method: "POST",
    sender: "posthog-js before 1.300",
    sends: (id) => ({
      target: `/e/?compression=base64&ip=1&_=${id}&ver=1.200.0`,
      type: form,
      body: Buffer.from(`data=${encodeURIComponent(json(eventOf(id)).toString("base64"))}`),
    }),
    answers: accepted,
  },
  {
    name: "batch",
    method: "POST",
    sender: "posthog-node and other servers",
    sends: (id) => ({ target: "/batch/", type: jsonType, encoding: "gzip", body: gzipSync(batchOf(id)) }),
    answers: accepted,
  },
  {
    name: "batch in parts",
    method: "POST",
    sender: "servers that send without a length",
    sends: (id) => ({ target: "/batch", type: jsonType, body: batchOf(id), chunked: true }),
    answers: accepted,
  },
  {
    name: "events, v1",
    method: "POST",
    sender: "posthog-node 6, posthog-python 8, posthog-ios 4, Go 2, Rust 1, Android 4",
    sends: (id) => ({ target: "/i/v1/analytics/events", ...v1(id, "phx-sim probe") }),
    answers: v1Answer,
  },
  {
    name: "AI events, v1",
    method: "POST",
    sender: "the same SDKs, LLM analytics",
    sends: (id) => ({ target: "/i/v1/ai/events", ...v1(id, "$ai_generation") }),
    answers: v1Answer,
  },
  {
    name: "logs",
    method: "POST",
    sender: "posthog-node 5.65 and later, OpenTelemetry",
    sends: (id) => ({
      target: "/i/v1/logs",
      type: jsonType,
      headers: { authorization: `Bearer ${tokenOf(id)}` },
      body: logsOf(id),
    }),
    answers: (id) => jsonAnswer({ partialSuccess: {}, probe: id }),
  },
  {
    name: "flags",
    method: "POST",
    sender: "every SDK",
    sends: (id) => ({ target: "/flags/?v=2", type: jsonType, body: flagsOf(id) }),
    answers: flagsAnswer,
  },
  {
    name: "flags of another user",
    method: "POST",
    sender: "every SDK",
    sends: (id) => ({ target: "/flags/?v=2", type: jsonType, body: flagsOf(id) }),
    answers: flagsAnswer,
  },
  {
    name: "recording",
    method: "POST",
    sender: "session replay, 5 MB",
    sends: (id) => ({ target: `/s/?ip=0&_=${id}&ver=1.449.2`, type: text, body: recordingOf(id) }),
    answers: accepted,
  },
];

export const probeRows = () =>
  rows.map(({ name, method, sender, sends }) => {
    const { target } = sends("0", "");
    return { name, sender, request: `${method} ${target.replace("phc_probe_0", "TOKEN")}` };
  });

export type ProbeNonce = string;

/** 9 and seven digits: a time in ms begins with 9 in the year 2255. */
export const newNonce = (): ProbeNonce => `9${String(randomBytes(4).readUInt32LE() % 10_000_000).padStart(7, "0")}`;

/** The probes of one check, each made when it is read. */
export function* probesOf(nonce: ProbeNonce, origin: string): Generator<Probe> {
  for (const [index, row] of rows.entries()) {
    const id = `${nonce}${String(index).padStart(5, "0")}`;
    const { target, type, encoding, body, chunked, headers } = row.sends(id, origin);
    yield {
      id,
      name: row.name,
      method: row.method,
      target,
      headers: {
        [probeHeader]: id,
        "user-agent": `phx-sim-probe/${id}`,
        accept: "*/*",
        "accept-encoding": "gzip, deflate, br",
        ...(type !== undefined && { "content-type": type }),
        ...(encoding !== undefined && { "content-encoding": encoding }),
        ...headers,
      },
      body: body ?? Buffer.alloc(0),
      isChunked: chunked === true,
      answer: row.answers(id),
    };
  }
}
