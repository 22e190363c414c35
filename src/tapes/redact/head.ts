import type { HeaderPairs } from "../format/exchange.ts";
import { decodedPart } from "./fields.ts";
import { isNothing } from "./names.ts";
import { isPlaceholder } from "./placeholders.ts";
import type { Sieve, Take } from "./sieve.ts";

/** `a=1; b=2`: names stay, values go. What has no name goes as a whole. */
const cookiePairs = (text: string, cookie: (value: string) => string): string =>
  text
    .split(/(;\s*)/)
    .map((part, i) => {
      if (i % 2 === 1 || part === "") return part;
      const at = part.indexOf("=");
      return part.slice(0, at + 1) + cookie(part.slice(at + 1));
    })
    .join("");

/** The first pair is the cookie, the rest are its attributes (RFC 6265 §4.1.1). */
function setCookie(text: string, cookie: (value: string) => string): string {
  const end = text.indexOf(";");
  const first = end === -1 ? text : text.slice(0, end);
  return cookiePairs(first, cookie) + text.slice(first.length);
}

/** Headers that hold a URL: placeholders in them are percent-encoded. */
const urls = new Set(["location", "content-location", "referer", "link"]);

function headerValue(name: string, value: string, path: string, sieve: Sieve, take: Take): string {
  const cookie = (secret: string): string => {
    const bare = secret.trim();
    return isNothing(bare) || isPlaceholder(bare) ? secret : take("cookie", bare, path);
  };
  if (sieve.judge.kindOfPlace(path) !== undefined) return sieve.text(value, path);
  if (name === "cookie") return sieve.text(cookiePairs(value, cookie), path);
  if (name === "set-cookie") return sieve.text(setCookie(value, cookie), path);
  if (sieve.judge.headerSecrecy(name) !== undefined) return sieve.named(name, value, path);
  if (urls.has(name) && /^[a-z]+:\/\/|^\//i.test(value)) return sieveUrl(value, path, path, sieve, take);
  return sieve.value(value, { path, name, around: [] });
}

/** Order, case and duplicates stay as they were. */
export const sieveHeaders = (headers: HeaderPairs, path: string, sieve: Sieve, take: Take): HeaderPairs =>
  headers.map(([name, value]) => {
    const plain = name.toLowerCase();
    return [sieve.text(name, path), headerValue(plain, value, `${path}.${plain}`, sieve, take)] as const;
  });

/** The part of a URL as it was, unless something was found in it. */
function sievePart(part: string, look: (plain: string) => string): string {
  const plain = decodedPart(part);
  const after = look(plain);
  return after === plain ? part : encodeURIComponent(after);
}

function sieveQuery(query: string, path: string, sieve: Sieve): string {
  return query
    .split("&")
    .map((pair) => {
      const at = pair.indexOf("=");
      if (at === -1) return sievePart(pair, (plain) => sieve.text(plain, path));
      const name = decodedPart(pair.slice(0, at));
      const spot = { path: `${path}.${name}`, name, around: [] };
      const isSecret = sieve.judge.secrecy(name) !== undefined;
      const safeName = sievePart(pair.slice(0, at), (plain) => sieve.text(plain, path));
      const value = sievePart(pair.slice(at + 1), (plain) =>
        isSecret ? sieve.named(name, plain, spot.path) : sieve.value(plain, spot),
      );
      return `${safeName}=${value}`;
    })
    .join("&");
}

const urlParts = /^([a-z][a-z\d+.-]*:\/\/)?(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;
const shared = /(\/(?:shared|embedded|shared_dashboard)\/)([^/]{8,})/;

function sievePath(path: string, where: string, sieve: Sieve, take: Take): string {
  const tokens = path.replace(shared, (whole, lead: string, token: string) =>
    isPlaceholder(decodedPart(token))
      ? whole
      : lead + encodeURIComponent(take("sharing_token", token, where)),
  );
  return tokens
    .split("/")
    .map((part) => sievePart(part, (plain) => sieve.text(plain, where)))
    .join("/");
}

/** An absolute or relative URL: login, path, parameters and fragment one by one, placeholders percent-encoded. */
export function sieveUrl(url: string, where: string, query: string, sieve: Sieve, take: Take): string {
  const [, scheme = "", login, path = "", parameters, fragment] = urlParts.exec(url) ?? [];
  // A rule for the path does not take away where a request went.
  const host = scheme === "" ? "" : path.replace(/\/.*$/s, "");
  const safeLogin = (it: string): string =>
    `${it === "" || isPlaceholder(decodedPart(it)) ? it : encodeURIComponent(take("userinfo", it, where))}@`;
  return [
    scheme,
    login === undefined ? "" : safeLogin(login),
    sievePart(host, (plain) => sieve.text(plain, where.replace(/\.path$/, ".host"))),
    sievePath(path.slice(host.length), where, sieve, take),
    parameters === undefined ? "" : `?${sieveQuery(parameters, query, sieve)}`,
    fragment === undefined ? "" : `#${sieveQuery(fragment, query, sieve)}`,
  ].join("");
}
