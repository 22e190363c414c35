// What a competent person writes in an hour to stand in for the service: collect the body, parse, check, keep the
// event with its uuid and time of arrival in an array, append it to a log, answer. A batch makes one line per event.
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { serveJson } from "./serve-json.mjs";

const [folder, key, mode] = process.argv.slice(2);
const log = createWriteStream(join(folder, "events.ndjson"), { flags: "a" });

/** `grouping` writes every 10 ms: what is answered may be lost. */
let group = "";
if (mode === "grouping")
  setInterval(() => {
    if (group !== "") log.write(group);
    group = "";
  }, 10);

function write(lines) {
  if (mode === "grouping") group += lines;
  else log.write(lines);
}

const events = [];

const isEvent = (item) =>
  typeof item?.event === "string" &&
  item.event !== "" &&
  typeof item.distinct_id === "string" &&
  item.distinct_id !== "";

function keep(item, received_at) {
  const event = { ...item, uuid: item.uuid ?? randomUUID(), received_at };
  events.push(event);
  return `${JSON.stringify(event)}\n`;
}

function ingest(body) {
  if (body.api_key !== key) return [401, { type: "authentication_error", code: "invalid_api_key" }];
  const items = Array.isArray(body.batch) ? body.batch : [body];
  const received_at = new Date().toISOString();
  write(
    items
      .filter(isEvent)
      .map((item) => keep(item, received_at))
      .join(""),
  );
  return [200, { status: 1 }];
}

function read(request, chunks) {
  const bytes = Buffer.concat(chunks);
  return JSON.parse((request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString());
}

function answer(request, chunks) {
  if (request.method !== "POST") return [405, { code: "method_not_allowed" }];
  if (!/^\/(capture|batch)\/?$/.test(request.url)) return [404, { code: "not_found" }];
  try {
    return ingest(read(request, chunks));
  } catch {
    return [400, { type: "validation_error", code: "invalid_payload" }];
  }
}

serveJson(key, answer);
