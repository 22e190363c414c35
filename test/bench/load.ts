import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { command } from "./machine.ts";
import type { Server } from "./server.ts";

/**
 * Until an answer costs the server the same CPU in two windows in a row, within these limits of its CPU time (of the clock
 * where the system does not report it).
 */
export interface Warmup {
  readonly leastMs: number;
  readonly mostMs: number;
}

export const noWarmup: Warmup = { leastMs: 0, mostMs: 0 };

/** What to send: bodies in turn, over keep-alive connections with one request in flight on each. */
export interface Load {
  path: string;
  headers?: Readonly<Record<string, string>>;
  bodies: readonly Buffer[];
  connections: number;
  warmup: Warmup;
  ms: number;
  /** Ends after this many measured requests, or after `ms`. */
  requests?: number;
  /** Requests a second over all connections; absent: as many as are answered. */
  perSecond?: number;
  /** A run of digits in the bodies that each request replaces by its own number (see `LoadResult.acknowledged`). */
  slot?: string;
  /** The server is expected to go away in the middle. */
  untilClosed?: boolean;
}

/** Figures of a load, without its warm-up. */
export interface LoadResult {
  requests: number;
  ms: number;
  /** User and system time of the server; null where the system does not report it. */
  cpuMs: number | null;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
  max: number;
  failures: number;
  firstFailure: string | null;
  /**
   * Requests answered with 200 or 201 on each connection, warm-up included. The k-th request of connection c (both from 0)
   * has the number `k × connections + c`.
   */
  acknowledged: number[];
}

const standardHeaders = { "content-type": "application/json", "user-agent": "posthog-node/5.0.0" };

function headOf(server: Server, load: Load): string {
  const headers = { host: `127.0.0.1:${server.port}`, ...standardHeaders, ...load.headers };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${load.path} HTTP/1.1\r\n${lines.join("")}`;
}

const jobOf = (server: Server, load: Load): string =>
  JSON.stringify({
    port: server.port,
    pid: server.pid,
    head: headOf(server, load),
    bodies: load.bodies.map((body) => body.toString("base64")),
    connections: load.connections,
    warmup: load.warmup,
    ms: load.ms,
    requests: load.requests ?? null,
    slot: load.slot ?? null,
    perSecond: load.perSecond ?? null,
    untilClosed: load.untilClosed ?? false,
  });

/**
 * Runs the load in a process of its own.
 * @throws Error when an answer was neither 200 nor 201, or none came, so that no figure rests on failures.
 */
export async function runLoad(server: Server, load: Load): Promise<LoadResult> {
  const [file, args] = command("load", ["test/bench/servers/load.mjs"]);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  child.stdin.end(jobOf(server, load));
  const output = await text(child.stdout);
  await ended;
  const result = JSON.parse(output) as LoadResult;
  if (result.failures > 0) throw new Error(`${result.failures} requests failed, first: ${result.firstFailure}`);
  return result;
}
