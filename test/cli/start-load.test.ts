import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { phxSim } from "./phx-sim.ts";

const folder = mkdtempSync(join(tmpdir(), "phx-sim-start-load-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Has Node tell on stderr what it imports. */
const tellImports = dataUrl(`
  import { register } from "node:module";
  register(${JSON.stringify(
    dataUrl(`
      export async function resolve(name, context, next) {
        const found = await next(name, context);
        process._rawDebug("imports " + found.url);
        return found;
      }
    `),
  )});
`);

const inRoom = (files: readonly string[], rooms: RegExp): string[] => files.filter((it) => rooms.test(it));

/** The files that were imported from the start to the stop. */
async function imported(): Promise<string[]> {
  const args = ["start", "--port", "0", "--data", folder];
  const sim = phxSim(args, { cwd: folder, nodeOptions: ["--import", tellImports] });
  await sim.says("stdout", /is ready at/);
  const { stderr } = await sim.signal("SIGTERM");
  return [...new Set([...stderr.matchAll(/^imports file:(.*)$/gm)].map(([, path = ""]) => path))];
}

/** Without what is warmed up once the start is over, which begins with these rooms. */
function atStart(files: readonly string[]): readonly string[] {
  const end = files.findIndex((it) => /\/dist\/(ingestion|book)-/.test(it));
  return end === -1 ? files : files.slice(0, end);
}

test("a start imports few files, no package, and nothing of the control API; nor does the stop", async () => {
  const all = await imported();
  const files = atStart(all);
  expect(inRoom(files, /\/node_modules\//)).toEqual([]);
  expect(inRoom(files, /\/dist\/(exports|resources)-/)).toEqual([]);
  expect(inRoom(all, /\/dist\/(control|commands)-/)).toEqual([]);
  expect(files.some((it) => it.endsWith("/dist/index.js"))).toBe(true);
  expect(files.length).toBeLessThanOrEqual(20);
});
