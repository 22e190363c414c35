import type { Socket } from "node:net";

/**
 * What a connection's first bytes are: TLS (a handshake record), HTTP/2 without TLS, the beginning of a call to the
 * live feed, or anything else.
 */
export type Speech = "tls" | "h2c" | "feed" | "http";

/** Begins every HTTP/2 connection; no method of HTTP/1 begins with its first three bytes. */
const preface = Buffer.from("PRI");
/** Begins every websocket to the live feed, and nothing that is in a hurry. */
const feed = Buffer.from("GET /__sim/ws");
const handshake = 0x16;
/** Says that the client believes it speaks TLS: `--reroute` takes it here in clear. No HTTP begins with its first byte. */
const secured = Buffer.from("\0https\n");

const [g] = feed;

/** undefined: more bytes are needed. */
export function speechOf(bytes: Buffer): Speech | undefined {
  if (bytes[0] === handshake) return "tls";
  const [known, speech] = bytes[0] === g ? ([feed, "feed"] as const) : ([preface, "h2c"] as const);
  const seen = bytes.subarray(0, known.length);
  if (!known.subarray(0, seen.length).equals(seen)) return "http";
  return seen.length === known.length ? speech : undefined;
}

/** Does it begin with the mark of a rerouted connection? undefined: more bytes are needed. */
function isMarked(bytes: Buffer): boolean | undefined {
  const seen = bytes.subarray(0, secured.length);
  if (!secured.subarray(0, seen.length).equals(seen)) return false;
  return seen.length === secured.length ? true : undefined;
}

/**
 * Waits for the first bytes of a connection and puts them back, but for the mark of a rerouted one (`isSecure`). One
 * that ends or fails before is closed.
 */
export function peek(socket: Socket, tell: (speech: Speech, isSecure: boolean) => void): void {
  let held: Buffer | undefined;
  let isSecure = false;
  const stop = () => {
    socket.off("readable", look).off("end", give).off("error", give);
  };
  const give = () => {
    stop();
    if (held === undefined || held.length === 0) return void socket.destroy();
    // fewer bytes than it takes: whatever reads HTTP says what is wrong with them
    socket.unshift(held);
    tell("http", isSecure);
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
    const speech = held.length === 0 ? undefined : speechOf(held);
    if (speech === undefined) return;
    stop();
    socket.unshift(held);
    tell(speech, isSecure);
  };
  socket.on("readable", look).on("end", give).on("error", give);
}
