import { counted } from "../../base/text.ts";
import type { Lines } from "../../cli/output.ts";
import type { RequestSummary } from "../../index.ts";
import { createTargetMask } from "../../tapes/redact/mask-target.ts";
import type { RedactionRules } from "../../tapes/redact/rules.ts";
import { type LineRules, requestLines } from "./request-lines.ts";

/** Prints requests on a terminal, and counts their outcomes. */
export interface RequestLog {
  add(request: RequestSummary): void;
  /** Prints the pending requests now. */
  flush(): void;
  /** `N events kept, M dropped, K requests rejected`, since the start. */
  total(): string;
}

/** Requests are collected for this time, ms, which users do not notice. */
const collectMs = 20;

/** Collects requests and prints them with one write, so that printing does not slow the traffic. */
export function createRequestLog(lines: Lines, rules: LineRules, redaction?: RedactionRules): RequestLog {
  const mask = createTargetMask(redaction);
  const counts = { kept: 0, dropped: 0, rejected: 0 };
  let waiting: RequestSummary[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const requests = waiting;
    waiting = [];
    lines.say(
      ...requestLines(
        requests.map((it) => ({ ...it, target: mask(it.target) })),
        rules,
      ),
    );
  };
  return {
    flush,
    add(request) {
      counts.kept += request.events - request.dropped.length;
      counts.dropped += request.dropped.length;
      if (request.rejected) counts.rejected++;
      if (rules.verbosity === "quiet") return;
      waiting.push(request);
      timer ??= setTimeout(flush, collectMs);
    },
    total() {
      const { kept, dropped, rejected } = counts;
      return `${counted(kept, "event")} kept, ${dropped} dropped, ${counted(rejected, "request")} rejected`;
    },
  };
}
