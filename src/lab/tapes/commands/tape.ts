import { type Command, command } from "../../../kernel/command/command.ts";
import { redact, reportOptions, tapeAt, text, toggle } from "./options.ts";

const tape = tapeAt(1, "Its name (tapes/NAME.tape.ndjson) or its path");
const json = toggle("Print JSON");

const list = command({
  name: "tape list",
  describe: "List the tapes of a folder",
  options: { folder: { kind: "folder", describe: "The folder (default: ./tapes)", place: 1, optional: true }, json },
  examples: [["phx-sim tape list", "what ./tapes has"]],
  run: async ({ values: { folder, json } }, shell) => (await import("./tape-show.ts")).listTapes(folder, json, shell),
});

const show = command({
  name: "tape show",
  describe: "Show what is on a tape: a line for each exchange, or all of one",
  options: {
    tape,
    exchange: { kind: "count", describe: "Number of the exchange to show in full" },
    json: toggle("Print its lines as they are: NDJSON"),
  },
  examples: [
    ["phx-sim tape show checkout", "requests, statuses and times"],
    ["phx-sim tape show checkout --exchange 3", "headers and bodies of one"],
  ],
  run: async ({ values }, shell) => (await import("./tape-show.ts")).showTape(values, shell),
});

const importHar = command({
  name: "tape import",
  describe: "Make a tape from a HAR file, without its secrets",
  options: {
    file: { kind: "file", describe: "The HAR file of a browser, Playwright, mitmproxy …", place: 1 },
    tape: text("Name or path of the new tape (default: the HAR file's name)"),
    all: toggle("Also requests to other services"),
    redact,
    json,
  },
  examples: [["phx-sim tape import session.har", "tapes/session.tape.ndjson, and what was odd about the HAR"]],
  confirms: true,
  run: async ({ values }, shell) => (await import("./tape-har.ts")).importTape(values, shell),
});

const exportHar = command({
  name: "tape export",
  describe: "Write a tape as HAR, for DevTools or Playwright's routeFromHAR",
  options: {
    tape,
    out: { kind: "file", describe: "The HAR file (default: NAME.har in this folder)" },
    force: toggle("Replace the file if it exists"),
    unsafe: toggle("Write it even if something looks like a secret"),
    json,
  },
  examples: [["phx-sim tape export checkout --out checkout.har", "refused where a secret would get out"]],
  confirms: true,
  run: async ({ values }, shell) => (await import("./tape-har.ts")).exportTape(values, shell),
});

const check = command({
  name: "tape check",
  describe: "Search tapes for secrets, damage and unusable exchanges; exit code 1 when there is a secret or damage",
  options: {
    tapes: { ...tapeAt(1, "Names or paths of tapes"), many: true },
    twin: text("Another recording of the same session: also list the values that differ from run to run"),
    json,
  },
  examples: [
    ["phx-sim tape check checkout signup", "in CI, before tapes are committed"],
    ["phx-sim tape check monday --twin tuesday", "paths to ignore, for the redaction rules of the config file"],
  ],
  confirms: true,
  run: async ({ values }, shell) => (await import("./tape-check.ts")).checkTapes(values, shell),
});

const diff = command({
  name: "tape diff",
  describe: "Compare the responses of two recordings of the same session; exit code 1 when they differ",
  options: {
    a: tapeAt(1, "Name or path of the older tape"),
    b: tapeAt(2, "Name or path of another recording of the same session"),
    ...reportOptions,
  },
  examples: [["phx-sim tape diff golden today", "where the responses of the service differ, by route and path"]],
  confirms: true,
  run: async ({ values }, shell) => (await import("./tape-diff.ts")).diffTapes(values, shell),
});

export const tapeCommands: readonly Command[] = [list, show, importHar, exportHar, check, diff];
