import { existsSync } from "node:fs";
import type { Json } from "../../../kernel/base/json.ts";
import { counted } from "../../../kernel/base/text.ts";
import { queryText } from "../../../kernel/call/call.ts";
import { newest } from "../../../kernel/call/newest.ts";
import { callSim } from "../../../kernel/command/ask-sim.ts";
import { clean, headerLines } from "../../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { saveAnswer } from "../../../kernel/command/result-file.ts";
import { findRunning, whereOptions } from "../../../kernel/command/running-sim.ts";
import type { Settings } from "../../../kernel/command/settings.ts";
import { optionsOf } from "../../../kernel/command/shape-options.ts";
import type { Style } from "../../../kernel/command/style.ts";
import { parametersIn, thinOptions } from "../../../kernel/command/thin-command.ts";
import { fixFor } from "../../../kernel/http/rejection-fixes.ts";
import { readRequestFilter } from "../filter/read.ts";
import { type RequestInFull, RequestListQuery, type SimRequest } from "../request-shapes.ts";
import { eventLine } from "./event-lines.ts";
import { checkedFilter } from "./filter-option.ts";

const { limit: page, filter, ...plain } = optionsOf(RequestListQuery.omit({ partition: true, before: true }));

const limit = { ...page, describe: "The newest N" } as const;

const filters = { ...plain, filter: { ...filter, kind: "word" } } as const;

const listOptions = {
  ...filters,
  limit,
  ...whereOptions,
  json: { kind: "switch", describe: "One JSON object per line" },
} as const;

const showOptions = { number: { kind: "count", describe: "The request's number", place: 1 }, ...thinOptions } as const;

const harOptions = {
  ...filters,
  limit: { ...limit, default: "1000" },
  out: { kind: "file", describe: "File to write; default: stdout" },
  force: { kind: "switch", describe: "Replace the file if it exists" },
  ...whereOptions,
  json: { kind: "switch", describe: "With --out: print the file's name and size as JSON" },
} as const;

const queryOf = (values: Settings<typeof filters>["values"]) => ({
  ...parametersIn(filters, values),
  filter: checkedFilter(values.filter, readRequestFilter),
});

const statusText = ({ status }: SimRequest, style: Style): string => {
  if (status === 0) return style.bad("no response");
  return status >= 400 ? style.bad(String(status)) : style.good(String(status));
};

function requestLine(request: SimRequest, isMixed: boolean, style: Style): string {
  const { n, at, method, target, ms, project, rejected, fault, scripted, source, events, dropped } = request;
  const kept = dropped === 0 ? `${counted(events, "event")} kept` : `${events - dropped} of ${events} events kept`;
  return [
    style.dim(clean(at.slice(11, 23))),
    style.dim(`#${n}`),
    isMixed ? `[${project ?? "none"}]` : "",
    `${style.bold(clean(method, 20))} ${clean(target, 120)} ${statusText(request, style)}`,
    events === 0 ? "" : kept,
    rejected === null ? "" : style.bad(`rejected ${clean(rejected.reason, 60)}`),
    fault === null ? "" : style.bold(`fault ${clean(fault, 60)}`),
    scripted ? style.bold("scripted") : "",
    source === null ? "" : style.dim(clean(source, 80)),
    style.dim(`${ms.toFixed(1)} ms`),
  ]
    .filter((part) => part !== "")
    .join("  ");
}

async function list(settings: Settings<typeof listOptions>, shell: Shell) {
  const { values } = settings;
  const query = queryOf(values);
  const running = await findRunning(settings, shell);
  const paged = { path: "requests", list: "requests", pageSize: values.limit };
  const get = (path: string) => callSim(running, "GET", path);
  const { entries, more } = await newest<SimRequest>(get, paged, { ...query, limit: values.limit });
  const { projects } = running.info;
  const isMixed = values.project === undefined && Array.isArray(projects) && projects.length > 1;
  const line = (it: SimRequest) => (values.json ? JSON.stringify(it) : requestLine(it, isMixed, shell.outStyle));
  shell.out.say(...entries.reverse().map(line));
  if (more) shell.err.say("phx-sim: older ones are not shown; --limit N shows the newest N");
  else if (entries.length === 0 && !values.json) shell.err.say("phx-sim: no requests");
  return "ok" as const;
}

/** The most lines of a body; `--json` has all. */
const mostLines = 400;

function textLines(text: string): string[] {
  const lines = text.split("\n");
  const more = lines.length - mostLines;
  return [
    ...lines.slice(0, mostLines).map((line) => `  ${clean(line, 2000)}`),
    ...(more > 0 ? [`  … ${more} more lines; --json shows all`] : []),
  ];
}

const jsonLines = (value: Json): string[] =>
  value === null ? [] : textLines(typeof value === "string" ? value : JSON.stringify(value, null, 2));

function bodyLines({ body, raw, decode_steps }: RequestInFull, style: Style): string[] {
  const steps = decode_steps.length === 0 ? [] : [`  ${style.dim(`decoded: ${clean(decode_steps.join(", "))}`)}`];
  if (body !== null) return [...jsonLines(body), ...steps];
  if (raw === null) return [];
  if ("text" in raw) return textLines(raw.text);
  if ("base64" in raw) return [`  ${style.dim("binary body (base64)")}`, ...textLines(raw.base64)];
  return [`  ${style.dim(`body not kept: ${clean(raw.omitted)}, ${counted(raw.bytes, "byte")}`)}`];
}

function rejectionLines({ rejected, nearest }: RequestInFull, projectKey: string, style: Style): string[] {
  if (rejected === null) return [];
  const fix = fixFor(rejected.reason, projectKey);
  return [
    `${style.bad(`rejected ${clean(rejected.reason, 60)}`)}: ${clean(rejected.detail)}${fix && ` → ${fix}`}`,
    ...(nearest.length > 0 ? [`nearest endpoints: ${clean(nearest.join(", "), 600)}`] : []),
  ];
}

function requestLines(request: RequestInFull, projectKey: string, style: Style): string[] {
  const { method, target, headers, reply_headers, reply, carried } = request;
  return [
    requestLine(request, true, style),
    ...rejectionLines(request, projectKey, style),
    "",
    style.bold(clean(`${method} ${target}`, 2000)),
    ...headerLines(headers),
    ...bodyLines(request, style),
    "",
    `${style.bold("response")} ${statusText(request, style)}`,
    ...headerLines(reply_headers),
    ...jsonLines(reply),
    ...(carried.length > 0 ? ["", style.bold(counted(carried.length, "event"))] : []),
    ...carried.map((it) => `  ${eventLine(it, false, style)}`),
  ];
}

async function show(settings: Settings<typeof showOptions>, shell: Shell) {
  const { number, json } = settings.values;
  const running = await findRunning(settings, shell);
  const request = await callSim<RequestInFull>(running, "GET", `requests/${number}`);
  const projectKey = String(running.info.project_api_key ?? "");
  shell.out.say(...(json ? [JSON.stringify(request, null, 2)] : requestLines(request, projectKey, shell.outStyle)));
  return "ok" as const;
}

async function har(settings: Settings<typeof harOptions>, shell: Shell) {
  const { limit, out, force, json } = settings.values;
  const path = `requests.har${queryText({ ...queryOf(settings.values), limit })}`;
  if (out !== undefined && !force && existsSync(out))
    throw new Failure("failed", `${clean(out)} already exists; give another file with --out, or --force`);
  const running = await findRunning(settings, shell);
  if (out === undefined) {
    shell.out.say(JSON.stringify(await callSim(running, "GET", path)));
    return "ok" as const;
  }
  const bytes = await saveAnswer(running, path, out);
  shell.out.say(json ? JSON.stringify({ file: out, bytes }) : `${clean(out)}: ${counted(bytes, "byte")}`);
  return "ok" as const;
}

export const requestCommands: readonly Command[] = [
  command({
    name: "requests list",
    describe: "List the requests, oldest first",
    options: listOptions,
    examples: [
      ["phx-sim requests list --outcome unmatched", "requests to paths that do not exist"],
      ["phx-sim requests list --filter 'status:>=400'", "in the language of the page's filter box"],
    ],
    run: list,
  }),
  command({
    name: "requests show",
    describe: "Show a request: headers, decoded body, response, and the events it carried",
    options: showOptions,
    examples: [["phx-sim requests show 12", "secrets are masked"]],
    run: show,
  }),
  command({
    name: "requests har",
    describe: "Write requests as HAR 1.2, for DevTools and other viewers",
    options: harOptions,
    examples: [
      ["phx-sim requests har --out traffic.har", "the newest 1000"],
      ["phx-sim requests har --outcome rejected | jq .log.entries", "to stdout"],
    ],
    confirms: true,
    run: har,
  }),
];
