import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isObject, type Json, type JsonObject, textsIn } from "../../kernel/base/json.ts";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { createProgress } from "../../kernel/command/progress.ts";
import { writeResult } from "../../kernel/command/result-file.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { readScenario } from "../../lab/scenario/load.ts";
import type { ScenarioLayer } from "../../lab/scenario/schema.ts";
import { TapeOrderError } from "../../lab/tapes/ports.ts";
import { offlineBy } from "../../lab/tapes/record/recordings.ts";
import { tapeRules } from "../../lab/tapes/redact/rules.ts";
import { createMask } from "../../lab/tapes/redact/scan.ts";
import { openUpstreams, type Upstreams } from "../../lab/tapes/upstream/upstreams.ts";
import { upstreamOf } from "../../sim/command/open-sim.ts";
import { baselineAt, fileOf } from "../baseline/command-run.ts";
import { compareWithLive, type LiveChange } from "./compare.ts";
import {
  type Affected,
  type DocumentLists,
  impactLists,
  impactOf,
  listsOf,
  type Removed,
  removedBetween,
} from "./impact.ts";
import { type LiveKind, liveKinds } from "./kinds.ts";
import type { impactOptions, liveOptions, pullOptions } from "./options.ts";
import { type LeftOut, type LiveProject, type PulledScenario, pulledScenarioOf, readLive } from "./pull.ts";
import type { Redacted } from "./redaction.ts";
import { openService, ServiceError } from "./service.ts";

type LiveSettings = Settings<typeof liveOptions>;

/** @throws Failure usage */
function keyIn({ values }: LiveSettings, { env }: Shell): string {
  const name = values["key-env"];
  const key = env[name];
  if (key === undefined || key === "")
    throw new Failure("usage", `set ${clean(name)} to a personal API key that may read the project`);
  if (!/^[\x21-\x7e]{1,500}$/.test(key))
    throw new Failure("usage", `${clean(name)} is not a key: it has blanks or letters that no key has`);
  return key;
}

/** @throws Failure usage, network */
function upstreamsIn(upstream: string, offline: boolean | undefined): Upstreams {
  try {
    return openUpstreams(upstream, offlineBy({ offline }));
  } catch (error) {
    if (!(error instanceof TapeOrderError)) throw error;
    const kind = error.key === "offline" ? "network" : "usage";
    throw new Failure(kind, clean(`--upstream: ${error.message}; ${error.hint}`, 600), error);
  }
}

/** What is wrong with a service becomes a failure of one line; its own words may repeat a secret. @throws Failure usage, network */
async function refusing<T>({ config }: Shell, work: () => Promise<T>, key?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const kind = error.kind === "order" ? "usage" : "network";
    const text = createMask(config?.redaction).text(key ? error.message.replaceAll(key, "***") : error.message);
    throw new Failure(kind, clean(text, 600), error);
  }
}

async function liveOf(
  settings: LiveSettings,
  shell: Shell,
  kinds: readonly LiveKind[] = liveKinds,
): Promise<LiveProject> {
  const { upstream, offline, upstreamCa } = upstreamOf(settings);
  const { project } = settings.values;
  if (upstream === undefined)
    throw new Failure("usage", "--upstream is missing: us, eu, or the address of a self-hosted service");
  if (project === undefined || !/^\d{1,15}$/.test(project))
    throw new Failure("usage", "--project must be the number of the live project, as in its address");
  const key = keyIn(settings, shell);
  const upstreams = upstreamsIn(upstream, offline);
  const progress = createProgress(process.stderr, shell.env);
  const read = { requests: 0 };
  return refusing(
    shell,
    async () => {
      const service = openService({
        upstreams,
        key,
        ca: upstreamCa,
        onRequest: () => progress.show(`${upstreams.name}: ${counted(++read.requests, "request")}`),
        onWait: (ms) => progress.show(`${upstreams.name} limits the rate: ${Math.ceil(ms / 1000)} s`),
      });
      try {
        return await readLive(service, project, kinds);
      } finally {
        service.close();
      }
    },
    key,
  ).finally(() => progress.end());
}

const pulledScenarioFor = (
  live: LiveProject,
  { values }: Settings<typeof pullOptions>,
  shell: Shell,
): Promise<PulledScenario> =>
  refusing(shell, () =>
    pulledScenarioOf(live, { keep: values["keep-values"], rules: tapeRules(shell.config?.redaction) }),
  );

const maxWidth = 110;

/** JSON with short values on one line. */
const jsonText = (value: Json): string => `${printed(value, "", 0)}\n`;

/** @param before Characters before the value in its line */
function printed(value: Json, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const short = onOneLine(value);
  if (indent.length + before + short.length < maxWidth) return short;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([key, it]) => {
    const start = isList ? "" : `${JSON.stringify(key)}: `;
    return `${deeper}${start}${printed(it, deeper, start.length)}`;
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function onOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, it]) => `${JSON.stringify(key)}: ${onOneLine(it)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

const header = [
  "// A world for phx-sim, pulled from a live project with `phx-sim pull`. It has no persons and no events;",
  "// secrets and personal data are replaced. Start it with `phx-sim start --scenario`.",
  "",
].join("\n");

const scenarioText = (scenario: JsonObject): string => header + jsonText(scenario);

/** Lines of each list of the summary; --json has all. */
const mostLines = 30;

const firstLines = (lines: readonly string[]): string[] => {
  const more = lines.length - mostLines;
  return [...lines.slice(0, mostLines), ...(more > 0 ? [`… and ${more} more; --json lists all`] : [])];
};

const redactedLine = ({ path, decides }: Redacted): string =>
  clean(`redacted: ${path}${decides ? " (decides; --keep-values VALUE keeps it)" : ""}`, 300);

const lineOf = (word: string, { kind, id, why }: LeftOut): string =>
  clean(`${word}: ${[kind, id].filter(Boolean).join(" ")}: ${why}`, 300);

/** What was pulled, redacted and left out, for review. */
function summaryLines({ counts, redacted, leftOut, warnings, notOffered }: PulledScenario): string[] {
  const parts = liveKinds.flatMap(({ list, noun }) => {
    const count = counts[list] ?? 0;
    return count === 0 ? [] : [counted(count, noun)];
  });
  return [
    `pulled: ${parts.join(", ") || "nothing but the project"}`,
    ...firstLines(redacted.map(redactedLine)),
    ...firstLines(leftOut.map((it) => lineOf("left out", it))),
    ...firstLines(warnings.map((it) => lineOf("warning", it))),
    ...(notOffered.length > 0 ? [`not offered by this upstream: ${notOffered.join(", ")}`] : []),
  ];
}

/** The project of this number in a scenario file. @throws Failure usage */
async function projectIn(file: string, id: string | undefined, cwd: string): Promise<JsonObject> {
  const name = clean(shortened(file, cwd));
  if (!existsSync(file)) throw new Failure("usage", `there is no ${name}; \`phx-sim pull\` writes it`);
  const { scenario, problems } = await readScenario(file);
  const [problem] = problems;
  if (scenario === undefined)
    throw new Failure("usage", clean(`${name} is not a scenario: ${problem?.message ?? "it cannot be read"}`));
  const projects = scenario.organizations.flatMap((it) => it.projects) as unknown as JsonObject[];
  const found = id === undefined ? projects[0] : projects.find((it) => String(it.id) === id);
  if (found === undefined) throw new Failure("usage", `${name} has no project ${clean(String(id))}`);
  return found;
}

const mostText = 60;

const textOf = (value: Json): string => {
  const text = value === null ? "nothing" : JSON.stringify(value);
  return text.length > mostText ? `${text.slice(0, mostText)}…` : text;
};

const changeLine = ({ what, kind, id, path, before, after }: LiveChange): string =>
  clean(`${what} ${kind} ${id}${path === "" ? "" : `: ${path}: ${textOf(before)} → ${textOf(after)}`}`, 400);

async function runCheck(settings: Settings<typeof pullOptions>, file: string, shell: Shell) {
  const { values } = settings;
  const before = await projectIn(file, values.project, shell.cwd);
  const live = await liveOf(settings, shell);
  const pulled = await pulledScenarioFor(live, settings, shell);
  const { scenario } = await readScenario([pulled.scenario as ScenarioLayer]);
  const after = scenario?.organizations[0]?.projects[0] as unknown as JsonObject;
  const changes = compareWithLive(before, after, new Set(live.documents.keys()));
  const { notOffered: not_offered } = pulled;
  if (values.json) shell.out.say(JSON.stringify({ file, same: changes.length === 0, changes, not_offered }));
  else if (changes.length > 0) shell.out.say(...changes.map(changeLine));
  else shell.out.say(`${clean(shortened(file, shell.cwd))}: the live project is the same`);
  return changes.length === 0 ? ("ok" as const) : 1;
}

/** `phx-sim pull`. @throws Failure */
export async function runPull(settings: Settings<typeof pullOptions>, shell: Shell) {
  const { values } = settings;
  const file = values.out ?? resolve(shell.cwd, "twin.json");
  const name = clean(shortened(file, shell.cwd));
  if (values.check) return runCheck(settings, file, shell);
  if (!/\.jsonc?$/i.test(file)) throw new Failure("usage", `${name} must end in .json or .jsonc`);
  if (existsSync(file) && !values.force) throw new Failure("failed", `${name} already exists; --force writes over it`);
  const live = await liveOf(settings, shell);
  const pulled = await pulledScenarioFor(live, settings, shell);
  await writeResult(file, scenarioText(pulled.scenario), "the scenario");
  if (values.json) {
    const { counts, redacted, leftOut: left_out, warnings, notOffered: not_offered } = pulled;
    shell.out.say(JSON.stringify({ file, counts, redacted, left_out, warnings, not_offered }));
    return "ok" as const;
  }
  shell.err.say(...summaryLines(pulled));
  shell.out.say(`${name} is written; start it with: phx-sim start --scenario ${name}`);
  return "ok" as const;
}

interface Searched {
  readonly lists: DocumentLists;
  readonly groupTypes: readonly string[];
  readonly notOffered: readonly string[];
}

async function searchedBy(settings: Settings<typeof impactOptions>, shell: Shell): Promise<Searched> {
  const { from, upstream, project } = settings.values;
  if (from !== undefined || upstream === undefined) {
    const found = await projectIn(from ?? resolve(shell.cwd, "twin.json"), project, shell.cwd);
    return { lists: listsOf(found), groupTypes: textsIn(found.group_types), notOffered: [] };
  }
  const kinds = liveKinds.filter(({ list }) => impactLists.has(list));
  const { documents, groupTypes, notOffered } = await liveOf(settings, shell, kinds);
  return { lists: (list) => documents.get(list) ?? [], groupTypes, notOffered };
}

const removedText = ({ what, name, of }: Removed): string =>
  of === null ? `${what} ${name}` : `${what} ${name} of ${of}`;

/** `insight 61 "Orders": query.source.series[0].event` */
function affectedLine({ kind, id, name, path, by, through }: Affected): string {
  const title = name === "" || name === id ? "" : ` ${JSON.stringify(name)}`;
  const how = through !== null ? ` (${by} ${through})` : by === "mention" ? " (mentioned in HogQL)" : "";
  return clean(`  ${kind} ${id}${title}: ${path}${how}`, 400);
}

/** `phx-sim impact`. @throws Failure */
export async function runImpact(settings: Settings<typeof impactOptions>, shell: Shell) {
  const { values } = settings;
  const before = await baselineAt(values.before, shell);
  const after = await baselineAt(fileOf(values.after, shell), shell);
  const removed = removedBetween(before, after, values.complete);
  const { lists, groupTypes, notOffered } = await searchedBy(settings, shell);
  const affected = impactOf(removed, lists, groupTypes);
  if (values.json) shell.out.say(JSON.stringify({ removed, affected, not_offered: notOffered }));
  else if (removed.length === 0) shell.out.say("no event and no property is removed");
  else
    for (const it of removed) {
      const its = affected.filter((one) => one.removed === it);
      shell.out.say(clean(`${removedText(it)}: ${its.length === 0 ? "not used" : `used ${its.length}×`}`));
      shell.out.say(...its.map(affectedLine));
    }
  return affected.length === 0 ? ("ok" as const) : 1;
}
