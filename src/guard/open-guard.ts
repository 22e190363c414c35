import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtFile } from "../kernel/built-file.ts";
import { logVariable, readCalls, rulesVariable } from "./egress-log.ts";
import { type GuardProxy, openProxy } from "./proxy.ts";
import { placeTest } from "./refuses.ts";
import { type BlockedCall, callsKept, type GuardOptions } from "./types.ts";

export interface ChildGuardOptions extends GuardOptions {
  /** The sim's address, for the advice. */
  url: string;
  /** The environment that the child would get. Default: this process's. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** What keeps child processes from reaching guarded hosts. */
export interface ChildGuard extends AsyncDisposable {
  /** Variables to add to the child's. */
  readonly env: Record<string, string>;
  /** Whole sentences about what is not guarded, for people. */
  readonly notes: readonly string[];
  /** The calls that were blocked so far, oldest first. */
  calls(): Promise<BlockedCall[]>;
  /** Ends the proxy and removes the log. Harmless when done twice. */
  close(): Promise<void>;
}

/**
 * `before`, and the preload. `--require` is done before anything else in every process and worker thread, eval'd ones
 * too; `--import` is not.
 */
export function nodeOptions(before: string | undefined, preload = builtFile("guard/preload.cjs")): string {
  const ours = `--require "${preload.replace(/["\\]/g, "\\$&")}"`;
  return before?.trim() ? `${before} ${ours}` : ours;
}

export const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
export const bothCases = (name: string): string[] => [name, name.toLowerCase()];
const direct = ["127.0.0.1", "localhost", "::1"];

export function proxyVariables(env: ChildGuardOptions["env"] = {}, url: string): Record<string, string> {
  const before = (env.NO_PROXY || env.no_proxy || "").split(",").map((it) => it.trim());
  const exempt = [...new Set([...before, ...direct])].filter(Boolean).join(",");
  return Object.fromEntries([
    ...proxyNames.flatMap(bothCases).map((name) => [name, url]),
    ...bothCases("NO_PROXY").map((name) => [name, exempt]),
  ]);
}

/**
 * Prepares a guard for child processes of any kind. Node children (and theirs, and their worker threads) load the
 * guard of `guardProcess`. Others are led through a proxy which refuses guarded hosts: programs that heed neither
 * `HTTP_PROXY` nor `HTTPS_PROXY` are not guarded, nor are rules of paths below https. Where a proxy is set already,
 * it is left in place, and only Node children are guarded.
 * @throws TypeError when a host cannot be read
 */
export async function openGuard({
  url,
  hosts = [],
  allow = [],
  env = process.env,
}: ChildGuardOptions): Promise<ChildGuard> {
  const refuses = placeTest({ hosts, allow });
  const options = nodeOptions(env.NODE_OPTIONS);
  const taken = proxyNames.flatMap(bothCases).filter((name) => env[name]);
  const folder = await mkdtemp(join(tmpdir(), "phx-sim-egress-"));
  const log = join(folder, "calls.ndjson");
  const atProxy: BlockedCall[] = [];
  const keep = (call: BlockedCall) => {
    if (atProxy.length < callsKept) atProxy.push(call);
  };
  const proxy: GuardProxy | undefined =
    taken.length > 0 ? undefined : await openProxy({ simUrl: url, refuses, onBlocked: keep });
  let inChildren: BlockedCall[] = [];
  let closing: Promise<void> | undefined;
  const close = async () => {
    inChildren = readCalls(log);
    await Promise.all([proxy?.close(), rm(folder, { recursive: true, force: true })]);
  };
  return {
    env: {
      NODE_OPTIONS: options,
      [logVariable]: log,
      [rulesVariable]: JSON.stringify({ url, hosts, allow }),
      ...(proxy && proxyVariables(env, proxy.url)),
    },
    notes: proxy
      ? []
      : [
          `${taken.join(", ")} is set and left as it is: only Node processes are guarded, other programs are not.`,
        ],
    calls: async () =>
      [...(closing ? inChildren : readCalls(log)), ...atProxy].sort((a, b) => (a.at < b.at ? -1 : 1)),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}
