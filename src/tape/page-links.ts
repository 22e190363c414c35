import type { Upstreams } from "../kernel/upstreams.ts";

/** Where an answer comes from, and where its client believes the service to be. */
export interface Bases {
  /** Origins of the service that answered, e.g. `https://us.posthog.com`. */
  readonly origins: readonly string[];
  /** A path of the service that its clients do not see, e.g. `/posthog`. */
  readonly prefix?: string;
  /** e.g. `http://127.0.0.1:7490`; undefined: not known, links stay. */
  readonly live: string | undefined;
}

/** How links in the answers of a base are rewritten. @param live Where the client believes the service to be */
export const linksOf = ({ origins }: Upstreams, base: URL, live: string | undefined): Bases => ({
  origins,
  prefix: base.pathname.replace(/\/$/, ""),
  live,
});

/** Fields with the URLs of other pages. */
const pageFields: ReadonlySet<string> = new Set(["next", "previous"]);

const hostOf = (origin: string): string => origin.replace(/^https?:\/\//i, "").toLowerCase();

const isBelow = (prefix: string, path: string): boolean =>
  path.startsWith(prefix) && /^(?:$|[/?#])/.test(path.slice(prefix.length));

/** @param sameScheme A redirect from http to https of the same host must not lead back to where it came from */
function rebased(url: string, { origins, prefix = "", live }: Bases, sameScheme: boolean): string {
  const [, origin = "", path = ""] = /^(https?:\/\/[^/?#]+)(.*)$/is.exec(url) ?? [];
  if (live === undefined || origin === "" || !isBelow(prefix, path)) return url;
  const isTheirs = sameScheme
    ? origins.includes(origin.toLowerCase())
    : origins.some((it) => hostOf(it) === hostOf(origin));
  return isTheirs ? live + path.slice(prefix.length) : url;
}

/** The text of a field; the URL of another page leads to where the client asks. */
export const rebasedField = (name: string, text: string, bases: Bases): string =>
  pageFields.has(name) ? rebased(text, bases, false) : text;

const pageField = /("(?:next|previous)"\s*:\s*)("(?:[^"\\]|\\.)*")/g;

/** As `rebasedField`, in the text of a JSON document: all else stays as it is written. */
export const rebasedJson = (text: string, bases: Bases): string =>
  text.replace(pageField, (found, name: string, literal: string) => {
    const url: string = JSON.parse(literal);
    const to = rebased(url, bases, false);
    return to === url ? found : name + JSON.stringify(to);
  });

/** As `rebasedField`, in a header of an answer: redirects, and links to other pages. */
export function rebasedHeader(name: string, value: string, bases: Bases): string {
  const known = name.toLowerCase();
  if (known === "location") return rebased(value, bases, true);
  if (known !== "link") return value;
  return value.replace(/<([^<>]*)>/g, (_, url: string) => `<${rebased(url, bases, false)}>`);
}
