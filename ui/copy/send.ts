import type { StoredEvent } from "../../src/model/stored-event.ts";
import { jsonText, pythonText, scriptText, shellQuoted } from "./quote.ts";
import { bodyToSend, type CopyContext, meantProperties } from "./subject.ts";

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

/** Named as the event was, so that it is the same person's. */
export const posthogJs = (
  event: StoredEvent,
  { url, apiKey }: CopyContext,
): string => `import posthog from "posthog-js";

posthog.init(${scriptText(apiKey)}, {
  api_host: ${scriptText(url)},
  bootstrap: { distinctID: ${scriptText(event.distinct_id)} },
});
posthog.capture(${scriptText(event.event)}, ${scriptText(meantProperties(event))});`;

export const posthogNode = (
  event: StoredEvent,
  { url, apiKey }: CopyContext,
): string => `import { PostHog } from "posthog-node";

const posthog = new PostHog(${scriptText(apiKey)}, { host: ${scriptText(url)} });
posthog.capture({
  distinctId: ${scriptText(event.distinct_id)},
  event: ${scriptText(event.event)},
  properties: ${scriptText(meantProperties(event), 2)},
});
await posthog.shutdown();`;

/** Arguments by name: their order has changed between the SDK's versions. */
export const posthogPython = (
  event: StoredEvent,
  { url, apiKey }: CopyContext,
): string => `from posthog import Posthog

posthog = Posthog(${pythonText(apiKey)}, host=${pythonText(url)})
posthog.capture(
    distinct_id=${pythonText(event.distinct_id)},
    event=${pythonText(event.event)},
    properties=${pythonText(meantProperties(event), 4)},
)
posthog.shutdown()`;
