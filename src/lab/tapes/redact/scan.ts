import { atOnce } from "../../../kernel/base/work.ts";
import type { Exchange } from "../format/exchange.ts";
import { maskOf } from "./bind.ts";
import { filterBytes, filterExchange, filterUrl } from "./exchange.ts";
import { createSecretRules, type TapeRules } from "./rules.ts";
import { SecretFilter, type Take } from "./secret-filter.ts";
import { isPublic } from "./shapes.ts";

export interface Suspicion {
  /** Where in what was scanned, e.g. `req.body.batch[0].properties.note`; empty in a plain text. */
  path: string;
  kind: string;
  /** What was found, masked: `phx_***`, `hunt***`. */
  detail: string;
}

const mostShown = 4;

/** The beginning, if there is enough of it to keep the rest a secret. */
const masked = (secret: string): string => {
  const [first = ""] = secret.split(/[\r\n]/);
  return `${/^ph[a-z]_/.exec(first)?.[0] ?? (first.length >= 4 * mostShown ? first.slice(0, mostShown) : "")}***`;
};

export interface ScanOptions {
  rules?: TapeRules | undefined;
  onPlace?: (path: string) => void;
}

/** Collects what a filter takes; public keys are no secrets. */
function scanned(run: (filter: SecretFilter, take: Take) => void, { rules, onPlace }: ScanOptions = {}): Suspicion[] {
  const found = new Map<string, Suspicion>();
  const take: Take = (kind, secret, path) => {
    if (!isPublic(kind)) found.set(`${path}\n${kind}\n${secret}`, { path, kind, detail: masked(secret) });
    return `{{secret:${kind}#0}}`;
  };
  run(new SecretFilter({ take, secretRules: createSecretRules(rules), onPlace }), take);
  return [...found.values()];
}

/** Everything in a text (JSON, a form, a log …) that looks like a secret, in whatever it is encoded. Placeholders do not. */
export const scanText = (text: string, options?: ScanOptions): Suspicion[] =>
  scanned((filter) => filter.text(text, ""), options);

export const scanBytes = (bytes: Buffer, options?: ScanOptions): Suspicion[] =>
  scanned(({ secretRules }, take) => {
    let hasFound = false;
    const heard: Take = (...it) => {
      hasFound = true;
      return take(...it);
    };
    const isReadable = filterBytes(bytes, "", new SecretFilter({ take: heard, secretRules })) !== undefined;
    if (!isReadable && !hasFound) take("unreadable", "", "");
  }, options);

export const scanExchange = (exchange: Exchange, options?: ScanOptions): Suspicion[] =>
  scanned((filter, take) => {
    const safe = atOnce(filterExchange(exchange, filter, take));
    const [before, after] = [exchange, safe].map(({ req, res }) => [req.body, res?.body]);
    // a body that the filter left out holds something that cannot be read
    before?.forEach((body, i) => {
      const now = after?.[i];
      if (body && now && "omitted" in now && !("omitted" in body))
        take("unreadable", "", i === 0 ? "req.body" : "res.body");
    });
  }, options);

/** Masks secrets by the rules of tapes, for what people and agents read. Project keys are public. */
export interface Mask {
  /** Of a path and query: `/e/?q=***`. */
  target(target: string): string;
  /** Of any text; JSON stays JSON. */
  text(text: string): string;
}

export function createMask(rules?: TapeRules): Mask {
  const take: Take = (kind, secret) =>
    isPublic(kind) || secret === "***" ? secret : maskOf({ text: "", kind, number: 0 });
  const filter = new SecretFilter({ take, secretRules: createSecretRules(rules) });
  return { target: (target) => filterUrl(target, "", "", filter, take), text: (text) => filter.text(text, "") };
}
