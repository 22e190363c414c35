import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import { counted } from "../../kernel/base/text.ts";
import type { Lines } from "../../kernel/command/output.ts";
import type { RedactionRules } from "../../lab/tapes/redact/rules.ts";
import type { Mask } from "../../lab/tapes/redact/scan.ts";
import type { LineRules } from "../../state/journal/commands/request-lines.ts";
import type { Finding, RequestSummary } from "../../state/journal/request-summary.ts";

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Requests are collected for this time, ms. */
const collectMs = 20;

const maskedFindings = (findings: readonly Finding[], mask: Mask): Finding[] =>
  findings.map((it) => ({ ...it, event: mask.text(it.event) }));

/** A request without what the terminal must not show: anything of it may have been written by the app's users. */
const maskedSummary = (it: RequestSummary, mask: Mask): RequestSummary => ({
  ...it,
  target: mask.target(it.target),
  names: it.names.map((name) => mask.text(name)),
  dropped: maskedFindings(it.dropped, mask),
  warnings: maskedFindings(it.warnings, mask),
  ...(it.rejected && { rejected: { ...it.rejected, detail: mask.text(it.rejected.detail) } }),
});

/** Prints collected requests with one write, so that printing does not slow the traffic; a start loads no printer. */
export function createRequestLog(lines: Lines, rules: LineRules, redaction?: RedactionRules) {
  const counts = { kept: 0, dropped: 0, rejected: 0 };
  let collected: RequestSummary[] = [];
  let timer: NodeJS.Timeout | undefined;
  let printed = Promise.resolve();
  const printer = onFirstUse(async () => {
    const [{ requestLines }, { createMask }] = await Promise.all([
      import("../../state/journal/commands/request-lines.ts"),
      import("../../lab/tapes/redact/scan.ts"),
    ]);
    const mask = createMask(redaction);
    return (requests: readonly RequestSummary[]) => {
      const masked = requests.map((it) => maskedSummary(it, mask));
      lines.say(...requestLines(masked, rules));
    };
  });

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const requests = collected;
    collected = [];
    if (requests.length > 0)
      printed = printed
        .then(async () => (await printer())(requests))
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          lines.say(`phx-sim: ${requests.length} requests are not shown here: ${why}`);
        });
    return printed;
  }

  return {
    flush,
    add(request: RequestSummary): void {
      counts.kept += request.events - request.dropped.length;
      counts.dropped += request.dropped.length;
      if (request.rejected) counts.rejected++;
      if (rules.verbosity === "quiet") return;
      collected.push(request);
      timer ??= setTimeout(() => void flush(), collectMs);
    },
    total(): string {
      const { kept, dropped, rejected } = counts;
      return `${counted(kept, "event")} kept, ${dropped} dropped, ${counted(rejected, "request")} rejected`;
    },
  };
}
