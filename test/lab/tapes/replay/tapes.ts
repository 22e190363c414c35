import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import type { Redactor } from "../../../../src/lab/tapes/format/header.ts";
import type { RawAnswer, RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { newFolder } from "../../../support/folder.ts";
import { json } from "../format/fixture.ts";

/** An answer with this body as JSON. */
export const answer = (body: unknown, over: Partial<RawAnswer> = {}): RawAnswer => ({
  status: 200,
  reason: "OK",
  http: "1.1",
  headers: ["Content-Type", "application/json"],
  body: json(body),
  ttfb: 1,
  total: 2,
  ...over,
});

export const upstream = "https://us.i.posthog.com";

/** A request and its answer. */
export const exchange = (
  line: string,
  given: RawAnswer | null,
  { body, headers = [], ...over }: { body?: unknown; headers?: string[] } & Omit<Partial<RawExchange>, "body"> = {},
): RawExchange => {
  const [method = "", path = ""] = line.split(" ");
  return {
    at: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    method,
    url: upstream + path,
    http: "1.1",
    headers: [
      "Host",
      "us.i.posthog.com",
      ...(body === undefined ? [] : ["Content-Type", "application/json"]),
      ...headers,
    ],
    body: body === undefined ? Buffer.alloc(0) : json(body),
    answer: given,
    ...over,
  };
};

/** A tape with these exchanges, as a recording writes it; gone after the test. */
export async function tapeOf(
  exchanges: readonly RawExchange[],
  name = "checkout",
  redactor: Redactor = createRedactor(),
): Promise<string> {
  const file = join(newFolder(), `${name}.tape.ndjson`);
  const writer = new TapeWriter(file, { redactor, header: { upstream } });
  for (const it of exchanges) writer.append(it);
  await writer.close();
  return file;
}

/** A sim that is closed after the test. */
export async function started(options: SimOptions): Promise<Sim> {
  const sim = await startSim(options);
  onTestFinished(() => sim.close());
  return sim;
}

/** A request to a sim: status, what answered it, and its body. */
export async function asked(
  sim: Sim,
  line: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
) {
  const [method = "", path = ""] = line.split(" ");
  const response = await fetch(sim.url + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, source: response.headers.get("x-phx-source"), text, headers: response.headers };
}
