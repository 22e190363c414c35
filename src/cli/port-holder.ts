import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { askInfo } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";

/** Who listens on the port, for people: another sim with its pid and data folder, or on Linux the process. */
export async function portHolder(host: string, port: number): Promise<string> {
  const info = await askInfo(`http://${urlHost(host)}:${port}`, 2000);
  if (info === "locked") return `a phx-sim, ${listenerOf(port) ?? "whose control API wants its token"}`;
  if (!info) return listenerOf(port) ?? "another program";
  const pid = typeof info.pid === "number" ? `pid ${info.pid}, ` : "";
  const data = typeof info.data === "string" ? `data folder ${clean(info.data)}` : "in memory";
  return `phx-sim ${clean(String(info.version), 20)} (${pid}${data})`;
}

/** Where to ask when something is bound to every interface. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const LISTEN = "0A";

/** `node (pid 123)`, from Linux' tables of sockets; undefined elsewhere and for processes of other users. */
function listenerOf(port: number): string | undefined {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listening(table, port)));
  if (inodes.size === 0) return undefined;
  const pid = quietly(() => readdirSync("/proc"))?.find((it) => /^\d+$/.test(it) && holdsOne(it, inodes));
  if (pid === undefined) return undefined;
  const name = quietly(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "a program";
  return `${clean(name, 40)} (pid ${pid})`;
}

function listening(table: string, port: number): string[] {
  const rows = quietly(() => readFileSync(table, "utf8").split("\n").slice(1)) ?? [];
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) && columns[3] === LISTEN)
    .map((columns) => `socket:[${columns[9]}]`);
}

function holdsOne(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  const files = quietly(() => readdirSync(folder)) ?? [];
  return files.some((file) => sockets.has(quietly(() => readlinkSync(`${folder}/${file}`)) ?? ""));
}

/** Processes come and go, and most of them are not ours to look at. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
