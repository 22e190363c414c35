import { resolve } from "node:path";
import { counted } from "../../../kernel/base/text.ts";
import { clean, headerLines } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { sizeText } from "../../../kernel/command/progress.ts";
import type { Style } from "../../../kernel/command/style.ts";
import { plainBytes } from "../format/bodies.ts";
import { type Exchange, type TapeBody, targetOf, type WireForm } from "../format/exchange.ts";
import type { TapeHeader } from "../format/header.ts";
import { tapePlace, tapesFolder } from "../format/place.ts";
import type { TapeInfo } from "../format/read.ts";
import type { TapeProblem } from "../shapes.ts";
import { onFile } from "./tape-trouble.ts";

/** Lists the tapes of a folder. @throws Failure */
export async function listTapes(given: string | undefined, json: boolean, shell: Shell): Promise<"ok"> {
  const folder = given ?? resolve(shell.cwd, tapesFolder);
  const { tapesIn } = await import("../format/read.ts");
  const { existsSync } = await import("node:fs");
  const isNoneYet = given === undefined && !existsSync(folder);
  const tapes = isNoneYet ? [] : await onFile(folder, () => tapesIn(folder));
  if (json) shell.out.say(jsonLine({ folder, tapes }));
  else if (tapes.length === 0) shell.out.say(`no tapes in ${clean(folder)}`);
  else shell.out.say(...tapes.map((it) => infoLine(it, shell.outStyle)));
  return "ok";
}

interface ShowRequest {
  tape: string;
  exchange: number | undefined;
  json: boolean;
}

/** Waits for the reader of our output now and then: a tape may be larger than memory. */
const linesPerTurn = 500;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Shows what is on a tape: all exchanges on a line each, or one in full. @throws Failure */
export async function showTape({ tape: name, exchange, json }: ShowRequest, shell: Shell): Promise<"ok"> {
  const tape = tapePlace(name, shell.cwd);
  const { readHeader } = await import("../format/header.ts");
  const { readTape } = await import("../format/read.ts");
  const onProblem = (problem: TapeProblem) => shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  return onFile<"ok">(tape, async () => {
    const header = await readHeader(tape);
    if (exchange !== undefined) {
      const found = await numbered(readTape(tape, { onProblem, bodies: "whole" }), exchange, tape);
      shell.out.say(...(json ? [jsonLine(found)] : exchangeLines(found, shell.outStyle)));
      return "ok";
    }
    shell.out.say(...(json ? [jsonLine(header)] : [...tapeLines(header, shell.outStyle), ""]));
    let count = 0;
    for await (const it of readTape(tape, { onProblem })) {
      shell.out.say(json ? jsonLine(it) : exchangeLine(it, shell.outStyle));
      if (++count % linesPerTurn === 0) await nextTurn();
    }
    return "ok";
  });
}

async function numbered(exchanges: AsyncIterable<Exchange>, wanted: number, tape: string): Promise<Exchange> {
  let [count, highest] = [0, 0];
  for await (const it of exchanges) {
    if (it.i === wanted) return it;
    count++;
    highest = Math.max(highest, it.i);
  }
  const has = count === 0 ? "it has none" : `the highest number of its ${count} is ${highest}`;
  throw new Failure("usage", `${clean(tape)} has no exchange ${wanted}; ${has}`);
}

/** What JSON may carry as it is, and a terminal should not. */
const unsafe = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** JSON of one line that is safe on a terminal, too: such characters can only stand in its texts. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(unsafe, escaped);

const second = (iso: string): string => clean(iso.replace(/\.\d+Z$/, "Z"), 40);

function infoLine({ name, size, exchanges, header, problem }: TapeInfo, style: Style): string {
  const shown = style.bold(clean(name, 80));
  if (!header) return `${shown}  ${style.bad(clean(problem ?? "it cannot be read", 300))}`;
  const from = header.upstream ?? header.creator;
  return `${shown}  ${counted(exchanges, "exchange")}, ${sizeText(size)}  ${clean(from, 80)}  ${style.dim(second(header.created))}`;
}

const tapeLines = (header: TapeHeader, style: Style): string[] => [
  `${style.dim("recorded")}   ${second(header.created)} by ${clean(header.creator, 80)}`,
  `${style.dim("upstream")}   ${clean(header.upstream ?? "none: imported", 120)}`,
  `${style.dim("redaction")}  ${clean(header.redaction, 80)}`,
  ...header.noise.map((path) => `${style.dim("noise")}      ${clean(path, 200)}`),
];

function statusOf({ res, complete, aborted }: Exchange, style: Style): string {
  if (!res) return style.bad(aborted === "upstream" ? "connection reset" : "no response");
  const shown = res.status >= 400 ? style.bad(`${res.status}`) : style.good(`${res.status}`);
  return complete ? shown : `${shown} ${style.bad("cut off")}`;
}

function exchangeLine(exchange: Exchange, style: Style): string {
  const { i, at, route, req, res } = exchange;
  const time = style.dim(clean(at, 30).slice(11, 23));
  const took = res ? `  ${Math.round(res.total)} ms, ${sizeText(res.wire.bytes)}` : "";
  const what = `${clean(req.method, 32)} ${clean(targetOf(req.url), 120)}`;
  return `${style.dim(`#${i}`)}  ${time}  ${what}  ${statusOf(exchange, style)}${took}  ${style.dim(clean(route, 80))}`;
}

const mostLines = 400;

function textOf(body: TapeBody): string | undefined {
  if ("json" in body) return JSON.stringify(body.json, null, 2);
  return "text" in body ? body.text : undefined;
}

function bodyLines(body: TapeBody | undefined, wire: WireForm, style: Style): string[] {
  if (body === undefined) return [];
  const how = wire.encodings.length > 0 ? style.dim(`  (sent as ${clean(wire.encodings.join(", "))})`) : "";
  const trouble = wire.trouble === undefined ? [] : [`  ${style.bad(clean(wire.trouble))}`];
  const text = textOf(body);
  if (text === undefined) return ["", `  ${style.dim(bytesNote(body))}${how}`, ...trouble];
  const lines = text.split("\n");
  const more = lines.length > mostLines ? [style.dim(`  … ${lines.length - mostLines} more lines`)] : [];
  const shown = lines.slice(0, mostLines).map((line) => `  ${clean(line, 2000)}`);
  return ["", ...shown, ...more, ...(how ? [how] : []), ...trouble];
}

function bytesNote(body: TapeBody): string {
  if ("omitted" in body) return `body not kept: ${clean(body.omitted)}, ${counted(body.bytes, "byte")}`;
  if ("file" in body) return `body in side file ${clean(body.file)}, ${counted(body.bytes, "byte")}`;
  return `binary body, ${counted(plainBytes(body).length, "byte")}`;
}

function exchangeLines(exchange: Exchange, style: Style): string[] {
  const { req, res, redacted } = exchange;
  const answer = res
    ? [
        "",
        style.bold(clean(`HTTP/${res.http} ${res.status} ${res.reason}`)),
        ...headerLines(res.headers),
        ...bodyLines(res.body, res.wire, style),
      ]
    : [];
  const secrets = redacted.length > 0 ? ["", style.dim(`redacted: ${clean(redacted.join(", "), 2000)}`)] : [];
  return [
    exchangeLine(exchange, style),
    "",
    style.bold(clean(`${req.method} ${req.url} HTTP/${req.http}`, 2000)),
    ...headerLines(req.headers),
    ...bodyLines(req.body, req.wire, style),
    ...answer,
    ...secrets,
  ];
}

export const tapeProblemLine = ({ file, line, detail, hint }: TapeProblem): string =>
  clean(`${file}:${line}: ${detail} (${hint})`, 600);
