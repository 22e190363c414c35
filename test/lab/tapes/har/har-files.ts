import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { type HarProblem, importHar } from "../../../../src/lab/tapes/har/import.ts";
import { newFolder } from "../../../support/folder.ts";

/** A file with this content in a folder of its own. */
export function fileOf(content: string | Buffer, name = "some.har"): string {
  const file = join(newFolder(), name);
  writeFileSync(file, content);
  return file;
}

/** A HAR with these entries. */
export const harWith = (entries: readonly Json[], log: JsonObject = {}): string =>
  JSON.stringify({ log: { version: "1.2", creator: { name: "Tool", version: "7" }, ...log, entries: [...entries] } });

/** The least that an entry needs, with changes laid over its parts. */
export const entryWith = (request: JsonObject = {}, response: JsonObject = {}, rest: JsonObject = {}): JsonObject => ({
  startedDateTime: "2026-03-01T12:00:00.000Z",
  time: 30,
  request: {
    method: "POST",
    url: "https://us.i.posthog.com/flags/?v=2",
    httpVersion: "HTTP/1.1",
    headers: [{ name: "Content-Type", value: "application/json" }],
    queryString: [],
    cookies: [],
    postData: { mimeType: "application/json", text: '{"token":"phc_a"}' },
    headersSize: -1,
    bodySize: 17,
    ...request,
  },
  response: {
    status: 200,
    statusText: "OK",
    httpVersion: "HTTP/1.1",
    headers: [{ name: "content-type", value: "application/json" }],
    cookies: [],
    content: { size: 2, mimeType: "application/json", text: "{}" },
    redirectURL: "",
    headersSize: -1,
    bodySize: 2,
    ...response,
  },
  cache: {},
  timings: { blocked: -1, dns: -1, connect: -1, send: 1, wait: 20, receive: 9 },
  ...rest,
});

export interface Imported {
  exchanges: RawExchange[];
  problems: HarProblem[];
}

/** All that importing gives. */
export async function imported(file: string, all = false): Promise<Imported> {
  const problems: HarProblem[] = [];
  const exchanges: RawExchange[] = [];
  const found = importHar(file, { all, onProblem: (problem) => problems.push(problem) });
  for (const it of found.exchanges) exchanges.push(it);
  return { exchanges, problems };
}
