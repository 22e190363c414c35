import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { main } from "../../../src/cli/main.ts";

/** How a command line ended, and what it said. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const key = "phx_live";

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "phx-sim-twin-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a command line as on a user's machine. */
export async function phxSim(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = { POSTHOG_PERSONAL_API_KEY: key },
): Promise<Said> {
  // in CI nothing asks other machines
  vi.stubEnv("CI", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const said = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      said[name] += text;
      return true;
    },
    on: () => {},
    once: () => {},
  });
  const code = await main(args, {
    env,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    cwd: () => cwd,
    exit: () => {},
  } as unknown as Parameters<typeof main>[1]);
  return { code, ...said };
}
