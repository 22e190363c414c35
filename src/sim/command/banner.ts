import { clean } from "../../kernel/command/clean-text.ts";
import type { Style } from "../../kernel/command/style.ts";
import { envLines } from "../../lab/egress/env-lines.ts";
import { type Access, serverGroup } from "../../lab/egress/env-names.ts";
import { type Dialect, dialectNotes } from "../../state/documents/dialect-names.ts";
import type { SimServer } from "../types.ts";

/** The one line of `start --json`; the locator file holds the same. Its keys are public API. */
export interface ReadyLine extends Access {
  readonly local_url: string;
  readonly inspector_url: string;
  readonly data: string | null;
  readonly dialect: Dialect;
  readonly version: string;
  readonly pid: number;
  /** Only a generated one: a given one is not printed, as the output often ends in a log. */
  readonly control_token?: string;
}

type Served = Omit<SimServer, "send">;

export const readyLine = (sim: Served): ReadyLine => ({
  url: sim.publicUrl,
  local_url: sim.url,
  project_api_key: sim.apiKey,
  personal_api_key: sim.personalApiKey,
  project_id: sim.projectId,
  inspector_url: `${sim.publicUrl}/__sim/${new URL(sim.inspectorUrl).hash}`,
  data: sim.data,
  dialect: sim.dialect,
  version: sim.version,
  pid: process.pid,
  ...(sim.controlToken !== null && sim.inspectorUrl.endsWith(`#t=${sim.controlToken}`)
    ? { control_token: sim.controlToken }
    : {}),
});

export const recordReadyLine = (sim: Served) => {
  const { project_api_key: _, personal_api_key: __, project_id: ___, ...ready } = readyLine(sim);
  const { upstream, mode, tape, redaction } = sim.recorded();
  return { ...ready, upstream, mode, tape, redaction };
};

export function recordBanner(sim: Served, style: Style): string[] {
  const ready = recordReadyLine(sim);
  const row = (name: string, value: string) => `  ${style.dim(name.padEnd(13))} ${clean(value, 1000)}`;
  const taken = { none: "off (--raw)", pii: "secrets and personal data" };
  return [
    `${style.bold(`phx-sim ${ready.version}`)} records at ${style.bold(ready.url)}`,
    "",
    row("upstream", ready.upstream ?? ""),
    row("mode", ready.mode ?? ""),
    row("tape", ready.tape ?? "none"),
    row("redaction", ready.redaction === "none" || ready.redaction === "pii" ? taken[ready.redaction] : "secrets"),
    row("data", ready.data ?? "in memory, gone at the end"),
    row("inspector", ready.inspector_url),
    ...(ready.control_token === undefined ? [] : [row("control token", ready.control_token)]),
    "",
    "Point the app's host here, and use your own project key and personal key:",
    "",
    ...serverGroup(readyLine(sim)).variables.flatMap(([name, value]) =>
      value === ready.url ? [`${name}=${value}`] : [],
    ),
    "",
  ];
}

/** The banner. The env lines are not indented, so that they can be copied as they are. */
export function banner(ready: ReadyLine, scenario: string, style: Style): string[] {
  const row = (name: string, value: string) => `  ${style.dim(name.padEnd(13))} ${clean(value)}`;
  return [
    `${style.bold(`phx-sim ${ready.version}`)} is ready at ${style.bold(ready.url)}`,
    "",
    row("project key", ready.project_api_key),
    row("personal key", ready.personal_api_key),
    row("project id", String(ready.project_id)),
    row("inspector", ready.inspector_url),
    row("scenario", scenario),
    row("data", ready.data ?? "in memory, gone at the end"),
    row("dialect", `${ready.dialect}: ${dialectNotes[ready.dialect]}`),
    ...(ready.control_token === undefined ? [] : [row("control token", ready.control_token)]),
    "",
    ...envLines([serverGroup(ready)], "dotenv"),
    "",
  ];
}
