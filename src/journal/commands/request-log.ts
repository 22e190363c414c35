import { counted } from "../../base/counted.ts";
import type { Lines } from "../../cli/output.ts";
import type { RequestSummary } from "../../index.ts";
import { createTargetMask } from "../../tapes/redact/mask-target.ts";
import type { RedactionRules } from "../../tapes/redact/rules.ts";
import { type LineRules, requestLines } from "./request-lines.ts";

/** Tells requests on a terminal and counts what became of them. */
export interface RequestLog {
  add(request: RequestSummary): void;
  /** Tells what is waiting, now. */
  flush(): void;
  /** `N events kept, M dropped, K requests rejected`, since the start. */
  total(): string;
}

/** Long enough to gather what comes thick, too short for a person to notice. */
const gatherMs = 20;

/** Gathers requests for a moment and tells them with one write, so that telling does not slow the traffic. */
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
      timer ??= setTimeout(flush, gatherMs);
    },
    total() {
      const { kept, dropped, rejected } = counts;
      return `${counted(kept, "event")} kept, ${dropped} dropped, ${counted(rejected, "request")} rejected`;
    },
  };
}
