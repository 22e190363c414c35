import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { command } from "./machine.ts";

/** What pages were reported: by each that took something, and how often something was missing in between. */
export interface PagesResult {
  readonly reported: readonly number[];
  readonly missing: number;
}

/** Pages in a process of their own. */
export interface Pages {
  /** Resolves once nothing more comes. */
  end(): Promise<PagesResult>;
}

/** @param stalled How many of them take nothing. @throws Error when they cannot connect */
export async function openPages(url: string, count: number, stalled: number): Promise<Pages> {
  const [file, args] = command("load", [
    ...["test/bench/servers/pages.mjs", `${url.replace("http", "ws")}/__sim/ws`],
    ...[String(count), String(stalled)],
  ]);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the pages went away");
    return value;
  };
  await next();
  return {
    async end() {
      child.stdin.end();
      return JSON.parse(await next());
    },
  };
}
