import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/**
 * Installs an npm package into a folder of its own below node_modules/.cache, unless it is there.
 * @param spec Name and version, e.g. `json-server@0.17.4`
 * @returns the package's folder. @throws Error with npm's message
 */
export async function installed(home: string, spec: string): Promise<string> {
  const cwd = resolve("node_modules/.cache", home);
  const made = join(cwd, "node_modules", spec.slice(0, spec.lastIndexOf("@")));
  if (existsSync(join(made, "package.json"))) return made;
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "package.json"), "{}");
  await promisify(execFile)("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", spec], {
    cwd,
    timeout: 300_000,
  });
  return made;
}
