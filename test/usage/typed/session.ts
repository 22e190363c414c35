import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** How a command ended, and what it printed. */
interface Ran {
  readonly code: number;
  readonly output: string;
}

/** A terminal in which commands are typed one after the other, and further ones in which servers run. */
export interface Terminal {
  run(text: string): Promise<Ran>;
  /** Starts what runs until it is interrupted; resolves with its process id when it has printed the pattern. */
  serve(text: string, banner: RegExp): Promise<string>;
  /** Presses Ctrl-C in the terminal of such a process; its exit code. */
  interrupt(pid: string): Promise<string>;
  close(): void;
}

/** What bash prints after each command on both streams: nothing else prints NUL. */
const mark = (stream: string) => `builtin printf '\\0%s\\0' "$code" >&${stream}`;

/** The text of a stream so far, and a wait for a pattern in it. */
function heard(stream: Readable, ended: Promise<string>) {
  let text = "";
  let look = () => {};
  stream.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    look();
  });
  return {
    /** The match, which is taken from the text together with what stands before it. */
    until: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        look = () => {
          const found = pattern.exec(text);
          if (!found) return;
          text = text.slice(found.index + found[0].length);
          look = () => {};
          resolve(found);
        };
        look();
        ended.then((how) => reject(new Error(`${how} before ${pattern}:\n${text}`)));
      }),
  };
}

const streamsOf = (child: ChildProcess) => child.stdio as unknown as [Writable, Readable, Readable, Readable];

export function openTerminal(cwd: string, env: NodeJS.ProcessEnv): Terminal {
  const child = spawn("bash", ["--noprofile", "--norc"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(`the shell ended (${code})`));
  });
  const [input, stdout, stderr, fromServers] = streamsOf(child);
  const [out, err, served] = [stdout, stderr, fromServers].map((it) => heard(it, ended)) as [
    ReturnType<typeof heard>,
    ReturnType<typeof heard>,
    ReturnType<typeof heard>,
  ];
  // Each background job is a process group, as in a terminal of its own.
  input.write("set -m\n");
  let jobs = 0;
  const run = async (text: string): Promise<Ran> => {
    input.write(`{ ${text}\n} </dev/null\ncode=$?; ${mark("1")}; ${mark("2")}\n`);
    const end = /^([\s\S]*?)\0(\d+)\0/;
    const [[, printed = "", code], [, said = ""]] = await Promise.all([out.until(end), err.until(end)]);
    return { code: Number(code), output: printed + said };
  };
  return {
    run,
    async serve(text, banner) {
      jobs += 1;
      const end = `builtin printf '\\0${jobs} %s\\0' "$code"`;
      const { output } = await run(`{ ${text}\ncode=$?; ${end}; exit $code; } >&3 2>&3 & echo $!`);
      const [printed, code] = await served.until(new RegExp(`${banner.source}|\\0${jobs} (\\d+)\\0`));
      if (code !== undefined) throw new Error(`${text}: ${code}\n${printed}`);
      return output.trim();
    },
    async interrupt(pid) {
      const { output } = await run(`kill -INT -- -${pid}; wait ${pid} 2>/dev/null; echo $?`);
      return /\d+/.exec(output)?.[0] ?? "";
    },
    close() {
      input.end('for it in $(jobs -p); do kill -KILL -- "-$it"; done 2>/dev/null; kill -KILL $$\n');
    },
  };
}
