import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Runs as its own process beside a command of `exec`, for the case that `exec` is killed. When the pipe to `exec` breaks,
 * it ends the command and all its children. The pipe carries the command's pid, and `over` once the command has ended.
 */

/** After SIGTERM a process has this time, ms, before SIGKILL. */
const grace = 2_000;

interface Row {
  pid: number;
  parent: number;
}

/** The processes of the machine. */
function rows(): Row[] {
  if (process.platform !== "linux") {
    const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
    return table.split("\n").map((line) => rowOf(line.trim().split(/\s+/)));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => rowOf([pid, parentIn(statOf(pid))]));
}

const rowOf = ([pid, parent]: readonly (string | undefined)[]): Row => ({
  pid: Number(pid),
  parent: Number(parent),
});

/** A process may end while the list is read. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

/** The fourth field; the second one, the name in brackets, may contain any character. */
const parentIn = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];

/** A process and all below it. */
function treeOf(root: number): number[] {
  const all = rows();
  const tree = [root];
  for (const pid of tree) tree.push(...all.filter((it) => it.parent === pid).map((it) => it.pid));
  return tree;
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

function endTree(root: number): void {
  const tree = signalled(treeOf(root), "SIGTERM");
  const end = Date.now() + grace;
  const check = () => {
    const left = signalled(tree, 0);
    if (left.length === 0) return;
    if (Date.now() < end) setTimeout(check, 50);
    else signalled([...new Set(left.flatMap(treeOf))], "SIGKILL");
  };
  check();
}

let received = "";
process.stdin.setEncoding("utf8").on("data", (text: string) => {
  received += text;
});
process.stdin.on("end", () => {
  const [pid = "", over] = received.split("\n");
  if (/^\d+$/.test(pid) && over !== "over") endTree(Number(pid));
});
