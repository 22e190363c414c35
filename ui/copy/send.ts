import { shellQuoted } from "../../src/kernel/base/text.ts";
import type { StoredEvent } from "../../src/state/journal/stored-event.ts";
import { callFor, idBefore, type SdkCall } from "./calls.ts";
import { jsonText, pythonText, scriptText, type Written } from "./quote.ts";
import { bodyToSend, type CopyContext } from "./subject.ts";

/** Arguments of a command are limited (128 kB on Linux). */
const longestWord = 100_000;

/** A command for any POSIX shell. The body starts with `{`, never with `@`, which would name a file. */
export function curl(event: StoredEvent, context: CopyContext): string {
  const url = shellQuoted(`${context.url}/batch/`);
  const body = jsonText(bodyToSend(event, context));
  if (body.length <= longestWord) return `curl ${url} \\\n  --json ${shellQuoted(body)}`;
  // the body is one line that starts with a brace: it cannot contain the end mark
  return `curl ${url} --json @- <<'END_OF_BODY'\n${body}\nEND_OF_BODY`;
}

export const fetchCall = (event: StoredEvent, context: CopyContext): string => `await fetch(${scriptText(
  `${context.url}/batch/`,
)}, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(${scriptText(bodyToSend(event, context), 2)}),
});`;

/** A comment on properties that the call cannot take. */
const leftOut = (mark: string, { name, leavesOut }: SdkCall): string =>
  leavesOut.length === 0 ? "" : `${mark} ${name}() has no place for ${leavesOut.map(jsonText).join(", ")}.\n`;

/** Positional arguments without missing trailing ones. */
function byPlace({ args }: SdkCall): string {
  const last = args.findLastIndex(([, value]) => value !== undefined);
  return args
    .slice(0, last + 1)
    .map(([, value]) => scriptText(value ?? {}))
    .join(", ");
}

const byName = ({ args }: SdkCall): [string, Written][] =>
  args.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** The visitor before the call: the event's distinct id; for `identify()` the anonymous id. */
function visitor(event: StoredEvent, { name }: SdkCall): ReadonlyMap<string, Written> | undefined {
  if (name !== "identify")
    return new Map<string, Written>([
      ["distinctID", event.distinct_id],
      ...(event.person_mode === "full" ? [["isIdentifiedID", true] as const] : []),
    ]);
  const before = idBefore(event);
  return before === undefined ? undefined : new Map([["distinctID", before]]);
}

export function posthogJs(event: StoredEvent, { url, apiKey }: CopyContext): string {
  const call = callFor("js", event);
  const bootstrap = visitor(event, call);
  return `import posthog from "posthog-js";

posthog.init(${scriptText(apiKey)}, {
  api_host: ${scriptText(url)},${bootstrap ? `\n  bootstrap: ${scriptText(bootstrap, 2)},` : ""}
});
${leftOut("//", call)}posthog.${call.name}(${byPlace(call)});`;
}

export function posthogNode(event: StoredEvent, { url, apiKey }: CopyContext): string {
  const call = callFor("node", event);
  return `import { PostHog } from "posthog-node";

const posthog = new PostHog(${scriptText(apiKey)}, { host: ${scriptText(url)} });
${leftOut("//", call)}posthog.${call.name}(${scriptText(new Map(byName(call)))});
await posthog.shutdown();`;
}

export function posthogPython(event: StoredEvent, { url, apiKey }: CopyContext): string {
  const call = callFor("python", event);
  const args = byName(call).map(([name, value]) => `    ${name}=${pythonText(value, 4)},\n`);
  return `from posthog import Posthog

posthog = Posthog(${pythonText(apiKey)}, host=${pythonText(url)})
${leftOut("#", call)}posthog.${call.name}(
${args.join("")})
posthog.shutdown()`;
}
