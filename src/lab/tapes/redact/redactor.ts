import { atOnce, type Work } from "../../../kernel/base/work.ts";
import type { Exchange } from "../format/exchange.ts";
import { routeOf } from "../format/routes.ts";
import { filterExchange } from "./exchange.ts";
import { createMemory } from "./memory.ts";
import { createPersonal } from "./personal.ts";
import { createSecretRules, type TapeRules } from "./rules.ts";
import { SecretFilter, type Take } from "./secret-filter.ts";

export interface RedactorOptions {
  profile?: "default" | "pii";
  rules?: TapeRules | undefined;
  /** Called with each placeholder and the secret it stands for; for what stays in memory only. */
  onSecret?: (placeholder: string, secret: string) => void;
  /** On a tape that is continued, a key gets the placeholder of its kind that the tape has, if it has only one. */
  reusesKeys?: boolean;
}

/** More paths than this are listed without their positions: `req.body.batch[].token`. */
const mostPaths = 64;

const listed = (paths: ReadonlySet<string>): string[] =>
  paths.size <= mostPaths ? [...paths] : [...new Set([...paths].map((path) => path.replace(/\[\d+\]/g, "[]")))];

const nowhere = "http://redacted.invalid/";

/** Without what came from outside; why a body could not be decoded may repeat a header. */
const bare = ({ body, wire: { bytes, encodings } }: Pick<Exchange["req"], "body" | "wire">) => ({
  headers: [],
  wire: { bytes, encodings },
  ...(body && { body: { omitted: "redacted", bytes } }),
});

/** What is left when redaction itself fails: nothing that came from outside. */
const husk = ({ i, at, req, res, complete, aborted }: Exchange): Exchange => ({
  i,
  at,
  route: routeOf(req.method, nowhere),
  req: { method: req.method, url: nowhere, http: req.http, ...bare(req) },
  res: res && { status: res.status, reason: "", http: res.http, ...bare(res), ttfb: res.ttfb, total: res.total },
  complete,
  ...(aborted && { aborted }),
  redacted: ["req", "res"],
});

/**
 * Replaces the secrets of exchanges before they reach a disk by `{{secret:<kind>#n}}`, the same one for the same secret
 * over all exchanges of this redactor. `profile: "pii"` replaces personal data by stand-ins as well (`user1@example.test`). Redacting twice changes nothing. Never throws: an exchange that
 * cannot be redacted loses its headers and bodies.
 */
export function createRedactor({ profile = "default", rules, reusesKeys, onSecret }: RedactorOptions = {}) {
  const memory = createMemory(reusesKeys);
  let paths = new Set<string>();
  const note = (path: string): void => {
    paths.add(path);
  };
  const take: Take = (kind, secret, path) => {
    note(path);
    const placeholder = memory.placeholder(kind, secret);
    onSecret?.(placeholder, secret);
    return placeholder;
  };
  const personal = profile === "pii" ? createPersonal(note) : undefined;
  const filter = new SecretFilter({ take, memory, secretRules: createSecretRules(rules), personal });
  function* pass(exchange: Exchange): Work<Exchange> {
    const before = memory.size;
    const safe = yield* filterExchange(exchange, filter, take);
    // a secret that was found at the end may also be at the beginning
    return memory.size === before ? safe : yield* filterExchange(safe, filter, take);
  }
  function* redactInSteps(exchange: Exchange): Work<Exchange> {
    paths = new Set(exchange.redacted);
    try {
      memory.reserve(exchange.req.url);
      for (const header of [...exchange.req.headers, ...(exchange.res?.headers ?? [])])
        for (const text of header) memory.reserve(text);
      const safe = yield* pass(exchange);
      return { ...safe, redacted: listed(paths) };
    } catch {
      return husk(exchange);
    }
  }
  return {
    profile,
    rules,
    /** Placeholders and stand-ins in a text keep their numbers: what comes later gets later ones. */
    reserve(text: string) {
      memory.reserve(text);
      personal?.reserve(text);
    },
    redact: (exchange: Exchange) => atOnce(redactInSteps(exchange)),
    /** As `redact`, with other calls in between; the next exchange must wait until it is done. */
    redactInSteps,
  };
}
