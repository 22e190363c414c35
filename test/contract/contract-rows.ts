import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Tables of `contract.md`, the document that the sim's API is tested against. */

const sections = readFileSync(join(import.meta.dirname, "contract.md"), "utf8").split(/^#{2,3} /m);

const isRow = (line: string): boolean => line.startsWith("|");

/** The texts of a row's cells. No cell of the document contains a pipe. */
const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((it) => it.trim());

/** The rows of one table below a heading, without its head; `index` counts the heading's tables from 0. */
function tableBelow(heading: string, index = 0): string[][] {
  const section = sections.find((it) => it.startsWith(`${heading}\n`));
  const tables: string[][][] = [];
  let before = "";
  for (const line of section?.split("\n") ?? []) {
    if (isRow(line)) {
      if (!isRow(before)) tables.push([]);
      tables.at(-1)?.push(cellsOf(line));
    }
    before = line;
  }
  const rows = tables[index]?.slice(2) ?? [];
  if (rows.length === 0) throw new Error(`contract.md has no table ${index} below "${heading}"`);
  return rows;
}

export interface ContractEndpoint {
  readonly method: string;
  readonly path: string;
  /** A scope, or `open`. */
  readonly scope: string;
  /** The status, and the kind of body. */
  readonly response: string;
}

/** The scope of an endpoint where the contract leaves it open. */
export const open = "see Gaps in endpoints";

export const managementEndpoints: readonly ContractEndpoint[] = [
  "Dashboards and related (management API at `{base_url}`)",
  "Organizations (management API)",
  "Batch exports (management API)",
].flatMap((heading) =>
  tableBelow(heading).map(([method = "", path = "", scope = "", , response = ""]) => ({
    method,
    path,
    scope,
    response,
  })),
);

/** The document describes these in sentences. */
export const ingestionEndpoints = ["POST /decide", "POST /capture/", "POST /batch/"] as const;

export interface ContractField {
  readonly name: string;
  /** In the document's words. */
  readonly type: string;
}

const fieldsBelow = (heading: string, table = 0): readonly ContractField[] =>
  tableBelow(heading, table).map(([name = "", type = ""]) => ({ name, type }));

export const user = fieldsBelow("User (embedded object)");
export const dashboard = fieldsBelow("Dashboard");
/** Fields of create, retrieve and update responses, absent from list items. */
export const dashboardDetail = fieldsBelow("Dashboard", 1);
export const collaborator = fieldsBelow("Dashboard collaborator");
export const sharing = fieldsBelow("Dashboard sharing configuration");
export const organization = fieldsBelow("Organization");
export const batchExport = fieldsBelow("Batch export");
export const batchExportRun = fieldsBelow("Batch export run");
export const decideAnswer = fieldsBelow("Flag decision (public, at `{ingest_url}`)", 1);

/** § Errors: case, status, body. */
export const errors: readonly string[][] = tableBelow("Errors");
