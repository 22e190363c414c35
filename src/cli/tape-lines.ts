import { counted } from "../kernel/counted.ts";
import { plainBytes } from "../tape/encode.ts";
import type { TapeInfo } from "../tape/read.ts";
import type { Exchange, HeaderPairs, TapeBody, TapeHeader, TapeProblem, Wire } from "../tape/types.ts";
import { clean } from "./clean-text.ts";
import { sizeText } from "./progress.ts";
import type { Style } from "./style.ts";

/** What JSON may carry as it is, and a terminal should not. */
const unsafe = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (char: string): string =>
  Array.from(
    { length: char.length },
    (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");

/** JSON of one line that is safe on a terminal, too: such characters can only stand in its texts. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(unsafe, escaped);

const second = (iso: string): string => clean(iso.replace(/\.\d+Z$/, "Z"), 40);

/** A tape of a folder on a line. */
export function infoLine(
  { name, size, volumes, exchanges, header, problem }: TapeInfo,
  style: Style,
): string {
  const shown = style.bold(clean(name, 80));
  if (!header) return `${shown}  ${style.bad(clean(problem ?? "it cannot be read", 300))}`;
  const files = volumes > 1 ? ` in ${volumes} files` : "";
  const from = header.upstream ?? header.creator;
  return `${shown}  ${counted(exchanges, "exchange")}, ${sizeText(size)}${files}  ${clean(from, 80)}  ${style.dim(second(header.created))}`;
}

/** What a tape says of itself. */
export const headerLines = (header: TapeHeader, style: Style): string[] => [
  `${style.dim("recorded")}   ${second(header.created)} by ${clean(header.creator, 80)}`,
  `${style.dim("upstream")}   ${clean(header.upstream ?? "none: imported", 120)}`,
  `${style.dim("redaction")}  ${clean(header.redaction, 80)}`,
  ...header.noise.map((path) => `${style.dim("noise")}      ${clean(path, 200)}`),
];

const targetOf = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "") || "/";

function statusOf({ res, complete }: Exchange, style: Style): string {
  if (!res) return style.bad("no answer");
  const shown = res.status >= 400 ? style.bad(`${res.status}`) : style.good(`${res.status}`);
  return complete ? shown : `${shown} ${style.bad("cut off")}`;
}

/** An exchange on a line. */
export function exchangeLine(exchange: Exchange, style: Style): string {
  const { i, at, route, req, res } = exchange;
  const time = style.dim(clean(at, 30).slice(11, 23));
  const took = res ? `  ${Math.round(res.total)} ms, ${sizeText(res.wire.bytes)}` : "";
  const what = `${clean(req.method, 32)} ${clean(targetOf(req.url), 120)}`;
  return `${style.dim(`#${i}`)}  ${time}  ${what}  ${statusOf(exchange, style)}${took}  ${style.dim(clean(route, 80))}`;
}

const headersOf = (headers: HeaderPairs): string[] =>
  headers.map(([name, value]) => `  ${clean(name, 100)}: ${clean(value, 1000)}`);

/** Lines of a body that are shown; `--json` has all. */
const mostLines = 400;

function textOf(body: TapeBody): string | undefined {
  if ("json" in body) return JSON.stringify(body.json, null, 2);
  return "text" in body ? body.text : undefined;
}

function bodyLines(body: TapeBody | undefined, wire: Wire, style: Style): string[] {
  if (body === undefined) return [];
  const how = wire.encodings.length > 0 ? style.dim(`  (came as ${clean(wire.encodings.join(", "))})`) : "";
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

/** All of one exchange. */
export function exchangeLines(exchange: Exchange, style: Style): string[] {
  const { req, res, redacted } = exchange;
  const answer = res
    ? [
        "",
        style.bold(clean(`HTTP/${res.http} ${res.status} ${res.reason}`)),
        ...headersOf(res.headers),
        ...bodyLines(res.body, res.wire, style),
      ]
    : [];
  const secrets = redacted.length > 0 ? ["", style.dim(`redacted: ${clean(redacted.join(", "), 2000)}`)] : [];
  return [
    exchangeLine(exchange, style),
    "",
    style.bold(clean(`${req.method} ${req.url} HTTP/${req.http}`, 2000)),
    ...headersOf(req.headers),
    ...bodyLines(req.body, req.wire, style),
    ...answer,
    ...secrets,
  ];
}

/** Something wrong in a tape, with its place. */
export const tapeProblemLine = ({ file, line, detail, hint }: TapeProblem): string =>
  clean(`${file}:${line}: ${detail} (${hint})`, 600);
