import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { writeWhole } from "../kernel/base/whole-file.ts";
import type { Tenant } from "../sim/client/api.ts";
import type { FailedTest } from "./run-report/test-report-client.ts";

/** Whether a failed test leaves a report: false for none, true or a folder. */
export type ReportSetting = boolean | string;

const usualFolder = "phx-report";

/** The folder of reports; undefined for none. `PHX_SIM_TEST_REPORTS` comes first: a folder, or `off`. */
function folderOf(setting: ReportSetting): string | undefined {
  const given = process.env.PHX_SIM_TEST_REPORTS;
  if (setting === false || given === "off") return undefined;
  return given || (setting === true ? usualFolder : setting);
}

/** Words of the title, and a hash: titles of different tests may be equal. */
function nameOf(title: string, file: string): string {
  const words = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const mark = createHash("sha256").update(`${file}\n${title}`).digest("hex").slice(0, 6);
  return `${words.slice(0, 80)}-${mark}.html`;
}

/**
 * Writes the report of a failed test and returns a line that names it, for the test's message; undefined if reports are
 * turned off. A report that cannot be written is named as well: it must not hide why the test failed.
 * @param file The test's file
 */
export async function reportFailure(
  tenant: Tenant,
  test: FailedTest,
  { file, setting }: { readonly file: string; readonly setting: ReportSetting },
): Promise<string | undefined> {
  const folder = folderOf(setting);
  if (folder === undefined) return undefined;
  try {
    const { testReport } = await import("./run-report/test-report-client.ts");
    const { html } = await testReport(tenant, test);
    const path = join(folder, nameOf(test.title, file));
    await mkdir(folder, { recursive: true });
    // reports are not for version control
    if (folder === usualFolder) await writeFile(join(folder, ".gitignore"), "*\n");
    await writeWhole(path, [html], 0o666);
    return `phx-sim report: ${relative(process.cwd(), resolve(path))}`;
  } catch (error) {
    return `phx-sim report: not written: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function addLine(error: unknown, line: string): void {
  if (typeof error !== "object" || error === null || !("message" in error)) return;
  const message = String(error.message);
  if (message.endsWith(line)) return;
  const longer = `${message}\n\n${line}`;
  if ("stack" in error && typeof error.stack === "string" && error.stack.includes(message))
    error.stack = error.stack.replace(message, () => longer);
  error.message = longer;
}
