import type { Socket } from "node:net";
import { isLoopbackHost, plainHost } from "../../../kernel/http/host-rules.ts";

/** By the first bytes: TLS (a handshake record), HTTP/2 without TLS, a websocket or the live feed, or anything else. */
export type Speech = "tls" | "h2c" | "socket" | "http";

/** The first bytes of every HTTP/2 connection, and of no HTTP/1 method. */
const preface = Buffer.from("PRI");
/** The first bytes of every websocket to the live feed, and of no frequent call. */
const feed = Buffer.from("GET /__sim/ws");
const handshake = 0x16;
/** Marks a connection of `--reroute` whose client uses https. No HTTP begins with its first byte. */
const secured = Buffer.from("\0https\n");

const [g] = feed;

/** Longer heads are none of a websocket's. */
const mostHead = 16 * 1024;

function isHandshake(bytes: Buffer): boolean | undefined {
  const seen = bytes.toString("latin1", 0, mostHead);
  if (!"GET /".startsWith(seen.slice(0, 5))) return false;
  const end = seen.indexOf("\r\n\r\n");
  if (end === -1) return seen.length === mostHead ? false : undefined;
  return /\r\nupgrade:[ \t]*websocket[ \t]*\r\n/i.test(seen.slice(0, end + 2));
}

/** undefined: more bytes are needed. @param takesSockets Websockets of any path are one of the answers */
export function speechOf(bytes: Buffer, takesSockets = false): Speech | undefined {
  if (bytes[0] === handshake) return "tls";
  const [known, speech] = bytes[0] === g ? ([feed, "socket"] as const) : ([preface, "h2c"] as const);
  const seen = bytes.subarray(0, known.length);
  if (known.subarray(0, seen.length).equals(seen)) return seen.length === known.length ? speech : undefined;
  const isSocket = takesSockets && isHandshake(bytes);
  return isSocket === undefined ? undefined : isSocket ? "socket" : "http";
}

function isMarked(bytes: Buffer): boolean | undefined {
  const seen = bytes.subarray(0, secured.length);
  if (!secured.subarray(0, seen.length).equals(seen)) return false;
  return seen.length === secured.length ? true : undefined;
}

/** Reads the first bytes and puts them back, but for a rerouted connection's mark (`isSecure`). One that ends before is closed. */
export function peek(
  socket: Socket,
  found: (speech: Speech, isSecure: boolean) => void,
  takesSockets?: () => boolean,
): void {
  let held: Buffer | undefined;
  let isSecure = false;
  const stop = () => {
    socket.off("readable", look).off("end", give).off("error", give);
  };
  const give = () => {
    stop();
    if (held === undefined || held.length === 0) return void socket.destroy();
    // too few bytes: the HTTP parser reports what is wrong with them
    socket.unshift(held);
    found("http", isSecure);
  };
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    held = held === undefined ? chunk : Buffer.concat([held, chunk]);
    const marked = !isSecure && isMarked(held);
    if (marked === undefined) return;
    if (marked) {
      isSecure = true;
      held = held.subarray(secured.length);
    }
    const speech = held.length === 0 ? undefined : speechOf(held, takesSockets?.());
    if (speech === undefined) return;
    stop();
    socket.unshift(held);
    found(speech, isSecure);
  };
  socket.on("readable", look).on("end", give).on("error", give);
}

export interface Authority {
  /** Lower case, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const shape = /^(\[[\da-f:.%]+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/i;

/** Undefined if the text is no authority. */
export function readAuthority(text: string, defaultPort: number): Authority | undefined {
  const [matched, host = "", digits] = shape.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (matched === undefined || port < 1 || port > 65_535) return undefined;
  return { host: plainHost(host), port };
}

export interface AbsoluteTarget {
  readonly authority: Authority;
  /** As written, for the Host header. */
  readonly host: string;
  /** Path and query, byte for byte. */
  readonly target: string;
}

const absolute = /^(?:http|ws):\/\/([^/?#\s]+)([^#\s]*)/i;

export function readAbsolute(target: string): AbsoluteTarget | undefined {
  const [, host = "", rest = ""] = absolute.exec(target) ?? [];
  const authority = readAuthority(host, 80);
  if (authority === undefined) return undefined;
  return { authority, host, target: rest.startsWith("/") ? rest : `/${rest}` };
}

/** True if the sim answers for an authority: it is one of the service's hosts, or the sim's own address. */
export const isSim = ({ host, port }: Authority, ownPort: number, isService: (host: string) => boolean): boolean =>
  isService(host) || (port === ownPort && isLoopbackHost(host));
