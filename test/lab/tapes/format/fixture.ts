import { readFileSync } from "node:fs";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import type { Redactor } from "../../../../src/lab/tapes/format/header.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { type ReadOptions, readTape } from "../../../../src/lab/tapes/format/read.ts";
import type { TapeProblem } from "../../../../src/lab/tapes/shapes.ts";

/** For tapes whose exchanges have no secrets. */
export const plain: Redactor = { profile: "none", redact: (exchange) => exchange };

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** A request for flags and its answer, or what `over` makes of them. */
export const raw = (over: Partial<RawExchange> = {}): RawExchange => ({
  at: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  method: "POST",
  url: "https://us.i.posthog.com/flags/?v=2",
  http: "1.1",
  headers: ["Host", "us.i.posthog.com", "content-type", "application/json"],
  body: json({ distinct_id: "u1" }),
  answer: {
    status: 200,
    reason: "OK",
    http: "1.1",
    headers: ["Content-Type", "application/json", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
    body: json({ flags: {} }),
    ttfb: 1.5,
    total: 2,
  },
  ...over,
});

export async function allOf(file: string, options: ReadOptions = {}): Promise<Exchange[]> {
  const found: Exchange[] = [];
  for await (const exchange of readTape(file, options)) found.push(exchange);
  return found;
}

/** Exchanges and problems of a tape. */
export async function readAll(file: string, options: ReadOptions = {}) {
  const problems: TapeProblem[] = [];
  const exchanges = await allOf(file, { ...options, onProblem: (it) => problems.push(it) });
  return { exchanges, problems };
}

export const linesOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
