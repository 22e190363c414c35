import type { StoredEvent } from "../../src/model/stored-event.ts";
import { callFor, idBefore, type SdkCall } from "./calls.ts";
import { pythonText } from "./notations.ts";
import { jsonText, scriptText, shellQuoted, type Written } from "./quote.ts";
import { bodyToSend, type CopyContext } from "./subject.ts";

/** A word of a command line has a limit (128 kB on Linux). */
const longestWord = 100_000;

/** A command for any POSIX shell. The body begins with `{`, never with `@`, which would name a file. */
export function curl(event: StoredEvent, context: CopyContext): string {
  const url = shellQuoted(`${context.url}/batch/`);
  const body = jsonText(bodyToSend(event, context));
  if (body.length <= longestWord) return `curl ${url} \\\n  --json ${shellQuoted(body)}`;
  // The body is one line that begins with a brace: the end mark cannot be in it.
  return `curl ${url} --json @- <<'END_OF_BODY'\n${body}\nEND_OF_BODY`;
}

export const fetchCall = (event: StoredEvent, context: CopyContext): string => `await fetch(${scriptText(
  `${context.url}/batch/`,
)}, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(${scriptText(bodyToSend(event, context), 2)}),
});`;

/** What of the event the call does not say, told in a comment. */
const leftOut = (mark: string, { name, leavesOut }: SdkCall): string =>
  leavesOut.length === 0 ? "" : `${mark} ${name}() has no place for ${leavesOut.map(jsonText).join(", ")}.\n`;

/** Arguments by place: what is not there at the end is left out. */
function byPlace({ args }: SdkCall): string {
  const last = args.findLastIndex(([, value]) => value !== undefined);
  return args
    .slice(0, last + 1)
    .map(([, value]) => scriptText(value ?? {}))
    .join(", ");
}

const byName = ({ args }: SdkCall): [string, Written][] =>
  args.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** Who the browser's visitor is before the call: the event's own, for `identify()` the one before. */
function visitor(event: StoredEvent, { name }: SdkCall): ReadonlyMap<string, Written> | undefined {
  if (name !== "identify")
    return new Map<string, Written>([
      ["distinctID", event.distinct_id],
      ...(event.person_mode === "full" ? [["isIdentifiedID", true] as const] : []),
    ]);
  const before = idBefore(event);
  return before === undefined ? undefined : new Map([["distinctID", before]]);
}

/** Named as the event was, so that it is the same person's. */
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
