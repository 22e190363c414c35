import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants, getPriority, setPriority, tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { builtFile } from "../../../kernel/base/built-file.ts";
import { SimError } from "../../../kernel/base/errors.ts";
import { clearTimeout, setTimeout } from "../../../kernel/base/real-time.ts";
import { queryTooLarge, queryTooSlow } from "../refusals.ts";
import { type FromWorker, frameOf, headerLength, messageIn, type ToWorker } from "./messages.ts";

/** Memory for the values of columns and for what a query makes of them, MB. */
const mostMegabytes = 768;

/** Time after the end of a query's own time until its process is ended, ms. */
const grace = 500;

/** Characters of the standard error that are kept, for messages. */
const mostErrorText = 4_000;

/** Added to the sim's own niceness: where processors are scarce, captures and flags come before queries. */
const niceness = 5;

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  } catch {
    // it has ended, which `close` reports, or the system does not permit it
  }
}

/** A process that computes one query after the other. It is ended when a query takes too long or is cancelled. */
export class QueryProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #received: FromWorker[] = [];
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #hasSpoken = false;
  #errorText = "";

  constructor() {
    const { NODE_OPTIONS: _, NODE_CHANNEL_FD: __, ...env } = process.env;
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${mostMegabytes}`, "--no-warnings", builtFile("service/query/worker/main.js")],
      // a system may write the memory of an aborted process to its folder
      { env, cwd: tmpdir(), stdio: ["pipe", "pipe", "pipe"], windowsHide: true },
    );
    this.#child.on("error", (error) => this.#fail(unavailable(error.message)));
    const { pid, stdin, stdout, stderr } = this.#child;
    // without a file descriptor there are no streams; another cause is reported by `error`
    if (!(stdin && stdout && stderr)) throw unavailable("the system has no process or file descriptor left");
    lower(pid);
    stdin.on("error", () => {}); // it has gone, which `close` reports
    stderr.on("data", (text) => {
      this.#errorText = `${this.#errorText}${text}`.slice(0, mostErrorText);
    });
    stdout.on("data", this.#reader());
    this.#child.on("close", (code) => this.#fail(this.#endedWith(code)));
    this.hold(false);
  }

  readonly #kill = (): void => void this.#child.kill("SIGKILL");

  /** True if it can compute another query. */
  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  /** Whether it computes: then it keeps the sim's process running, and ends with it. Without a query it ends by itself. */
  hold(isHeld: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    process.off("exit", this.#kill);
    if (isHeld) process.on("exit", this.#kill);
    // pipes are sockets
    for (const it of [this.#child, stdin, stdout, stderr] as { ref?(): void; unref?(): void }[])
      if (isHeld) it.ref?.();
      else it.unref?.();
  }

  /** @throws what ended it */
  async send(message: ToWorker): Promise<void> {
    if (this.#failure) throw this.#failure;
    const { stdin } = this.#child;
    await new Promise<void>((resolve) => {
      stdin.cork();
      const [header, content] = frameOf(message);
      stdin.write(header);
      // called as well if it ends
      if (stdin.write(content, () => resolve())) resolve();
      stdin.uncork();
    });
  }

  /** Its next message. @throws what ended it; query_timeout after this time */
  async receive(mostMs: number): Promise<FromWorker> {
    const timer = setTimeout(() => this.end(queryTooSlow()), mostMs + grace);
    try {
      for (;;) {
        const message = this.#received.shift();
        if (message) return message;
        if (this.#failure) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  end(reason: Error): void {
    this.#fail(reason);
    this.#kill();
  }

  #fail(reason: Error): void {
    this.#failure ??= reason;
    this.#wake?.();
  }

  /** Why it ended by itself: V8 aborts a process without memory, and so may the system. */
  #endedWith(code: number | null): Error {
    const text = this.#errorText.trim();
    if (code !== 1) return queryTooLarge();
    return this.#hasSpoken ? new Error(`a bug in phx-sim: queries failed: ${text}`) : unavailable(text);
  }

  #reader(): (piece: Buffer) => void {
    let pieces: Buffer[] = [];
    let size = 0;
    let needed = headerLength;
    let isHeader = true;
    return (piece) => {
      pieces.push(piece);
      size += piece.length;
      while (size >= needed) {
        const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
        const [part, rest] = [bytes.subarray(0, needed), bytes.subarray(needed)];
        pieces = [rest];
        size = rest.length;
        if (isHeader) needed = part.readUInt32LE();
        else {
          needed = headerLength;
          this.#hasSpoken = true;
          this.#received.push(messageIn(part));
          this.#wake?.();
        }
        isHeader = !isHeader;
      }
    };
  }
}

const unavailable = (detail: string): SimError =>
  new SimError("not_ready", `The process that computes queries cannot be started: ${detail}`, {
    hint: "phx-sim starts Node for it: allow child processes and memory for one",
  });
