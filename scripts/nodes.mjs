// Versions of Node, from npm.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

const platform = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** A Node of this major version from npm; the current one for its own. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const home = join(root, "node_modules/.cache/phx-nodes", String(major));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), "{}");
  execFileSync("npm", ["install", "--no-audit", "--no-fund", `${platform}@${major}`], { cwd: home, stdio: "ignore" });
  return join(home, "node_modules", platform, "bin/node");
}
