import { gunzipSync, gzipSync } from "node:zlib";
import type { Call } from "../../kernel/http/call.ts";
import { preflight } from "../../kernel/http/cors.ts";
import { isControlPath } from "../../kernel/http/family.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { type Probe, type ProbeNonce, probeHeader } from "./probes.ts";

export interface ProbeArrival {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

const mostInflated = 20_000_000;

const gunzipped = (bytes: Buffer): Buffer | undefined => {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostInflated });
  } catch {
    return undefined;
  }
};

/** The forms in which a body may carry its id: as it is, decompressed, from base64. */
function* readings(body: Buffer): Generator<string> {
  const text = body.toString("latin1");
  yield text;
  const packed = gunzipped(body);
  if (packed) yield packed.toString("latin1");
  const encoded = /^(?:data=|")?([A-Za-z0-9+/=%]{16,})"?$/.exec(text.trim())?.[1];
  if (encoded === undefined) return;
  const decoded = Buffer.from(encoded.replaceAll("%3D", "=").replaceAll("%2B", "+").replaceAll("%2F", "/"), "base64");
  yield decoded.toString("latin1");
  const inner = gunzipped(decoded);
  if (inner) yield inner.toString("latin1");
}

/** Keeps what arrives for one check, and answers it. A probe is known by any of its marks: a proxy may lose the others. */
export function createReception(nonce: ProbeNonce) {
  const expected = new Map<string, Probe>();
  const arrived = new Map<string, ProbeArrival[]>();
  const mark = new RegExp(`${nonce}\\d{5}`);

  function probeIn(text: string | undefined): Probe | undefined {
    const id = text === undefined ? undefined : mark.exec(text)?.[0];
    return id === undefined ? undefined : expected.get(id);
  }

  function probeOf({ headers, target, body }: Call): Probe | undefined {
    const outside = probeIn(headers[probeHeader]) ?? probeIn(headers["user-agent"]) ?? probeIn(target);
    if (outside || body.length === 0) return outside;
    for (const text of readings(body)) {
      const found = probeIn(text);
      if (found) return found;
    }
    return undefined;
  }

  return {
    /** Must be called before a probe is sent. */
    expect: (probe: Probe) => void expected.set(probe.id, probe),
    arrivals: ({ id }: Probe) => arrived.get(id) ?? [],
    take(call: Call) {
      if (isControlPath(call.path)) return undefined;
      const probe = probeOf(call);
      if (!probe) return undefined;
      const { method, target, headers, body } = call;
      arrived.set(probe.id, [...(arrived.get(probe.id) ?? []), { method, target, headers, body }]);
      return answerTo(probe, call);
    },
  };
}

export type Reception = ReturnType<typeof createReception>;

/** Scripts and settings come compressed from the service where the request allows it. */
function answerTo({ method, answer }: Probe, call: Call): Reply {
  if (method === "OPTIONS") return preflight(call, "capture", ["GET", "POST", "OPTIONS"]);
  const { type, body } = answer;
  const headers = ["content-type", type];
  const isPacked = method === "GET" && /\bgzip\b/.test(call.headers["accept-encoding"] ?? "");
  return isPacked
    ? { status: 200, headers: [...headers, "content-encoding", "gzip"], body: gzipSync(body) }
    : { status: 200, headers, body };
}
