/**
 * Runs as its own process beside a command of `exec`, for the case that `exec` is killed. When the pipe to `exec` breaks,
 * it ends the command and all its children. The pipe carries the command's pid, `look` when it gets a signal, and `over`
 * once the command has ended by itself.
 * The argument is the value of `PHX_SIM_EXEC` in the command's environment: a command may run before its pid is known.
 */

// Without an import, as it starts with every command: the bundler may put an imported module into a large file.
const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs");

/** After SIGTERM a process has this time, ms, before SIGKILL. */
const grace = 2_000;

interface Row {
  pid: number;
  parent: number;
}

function rows(): Row[] {
  if (process.platform !== "linux") {
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
    return table.split("\n").map((line) => rowOf(line.trim().split(/\s+/)));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => rowOf([pid, parentIn(fileOf(pid, "stat"))]));
}

const rowOf = ([pid, parent]: readonly (string | undefined)[]): Row => ({ pid: Number(pid), parent: Number(parent) });

/** A process may end while the list is read, or be another user's. */
function fileOf(pid: number | string, name: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** The fourth field; the second one, the name in brackets, may contain any character. */
const parentIn = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];

/** The processes with this value of `PHX_SIM_EXEC`. Only Linux shows the environment of every process of the user. */
function markedWith(mark: string): number[] {
  if (process.platform !== "linux") return [];
  return rows()
    .map(({ pid }) => pid)
    .filter((pid) => fileOf(pid, "environ").split("\0").includes(`PHX_SIM_EXEC=${mark}`));
}

function treeOf(roots: readonly number[]): number[] {
  const all = rows();
  const tree = new Set(roots);
  // A set goes on with what is added to it on the way.
  for (const pid of tree) for (const it of all) if (it.parent === pid) tree.add(it.pid);
  return [...tree];
}

/** Sends the signal to the processes that still run, and returns these; 0 sends nothing. */
const signalled = (pids: readonly number[], signal: NodeJS.Signals | 0): number[] =>
  pids.filter((pid) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  });

function endTree(roots: readonly number[]): void {
  const tree = signalled(treeOf(roots), "SIGTERM");
  const end = Date.now() + grace;
  const check = () => {
    const left = signalled(tree, 0);
    if (left.length === 0) return;
    if (Date.now() < end) setTimeout(check, 50);
    else signalled(treeOf(left), "SIGKILL");
  };
  check();
}

const [, , mark = ""] = process.argv;
let received = "";
let seen: number[] = [];
const linesIn = (text: string): string[] => text.trim().split("\n");
const pidsIn = (text: string): number[] =>
  linesIn(text)
    .filter((it) => /^\d+$/.test(it))
    .map(Number);
process.stdin.setEncoding("utf8").on("data", (text: string) => {
  received += text;
  if (linesIn(text).includes("look")) seen = [...seen, ...treeOf(pidsIn(received))];
});
process.stdin.on("end", () => {
  if (linesIn(received).includes("over")) return;
  endTree([...seen, ...pidsIn(received), ...markedWith(mark)]);
});
