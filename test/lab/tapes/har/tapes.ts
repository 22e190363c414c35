import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import type { TapeHeader } from "../../../../src/lab/tapes/format/header.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { newFolder } from "../../../support/folder.ts";

/** A raw exchange with changes laid over it. */
export const rawWith = (
  request: Partial<RawExchange> = {},
  answer: Partial<NonNullable<RawExchange["answer"]>> = {},
): RawExchange => ({
  at: Date.parse("2026-03-01T12:00:00Z"),
  method: "GET",
  url: "https://us.posthog.com/api/users/@me/",
  http: "1.1",
  headers: ["Accept", "*/*"],
  body: Buffer.alloc(0),
  answer: {
    status: 200,
    reason: "OK",
    http: "1.1",
    headers: ["Content-Type", "application/json"],
    body: Buffer.from("{}"),
    ttfb: 5,
    total: 8,
    ...answer,
  },
  ...request,
});

/** A tape with these exchanges, as a recording makes it. */
export async function tapeOf(exchanges: readonly RawExchange[]): Promise<string> {
  const file = join(newFolder(), "some.tape.ndjson");
  const writer = new TapeWriter(file, { redactor: createRedactor() });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close();
  return file;
}

/** A tape as another user may have written it: nothing is redacted or checked. */
export function foreignTape(exchanges: readonly object[], header: Partial<TapeHeader> = {}): string {
  const file = join(newFolder(), "foreign.tape.ndjson");
  const first = {
    tape: 1,
    id: "0195a3c2-0000-7000-8000-000000000000",
    created: "2026-03-01T12:00:00.000Z",
    creator: "somebody",
    upstream: null,
    redaction: "default",
    noise: [],
    ...header,
  };
  writeFileSync(file, [first, ...exchanges].map((it) => `${JSON.stringify(it)}\n`).join(""));
  return file;
}

/** A line of a tape with changes laid over it. */
export const exchangeWith = (
  req: Partial<Exchange["req"]> = {},
  res: Partial<NonNullable<Exchange["res"]>> | null = {},
  rest: Partial<Exchange> = {},
): Exchange => ({
  i: 1,
  at: "2026-03-01T12:00:00.000Z",
  route: "flags",
  req: {
    method: "POST",
    url: "https://us.i.posthog.com/flags/?v=2&v=%C3%A9",
    http: "2.0",
    headers: [["Content-Type", "application/json"]],
    wire: { bytes: 0, encodings: [] },
    ...req,
  },
  res: res && {
    status: 200,
    reason: "OK",
    http: "2.0",
    headers: [["Content-Type", "application/json"]],
    wire: { bytes: 0, encodings: [] },
    ttfb: 20.5,
    total: 30,
    ...res,
  },
  complete: true,
  redacted: [],
  ...rest,
});
