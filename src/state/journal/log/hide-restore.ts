import { basename, join } from "node:path";
import { sealed } from "../../../kernel/store/lines.ts";
import { type SwitchPart, tailName, writeSynced } from "../../../kernel/store/switch.ts";
import type { TrafficLine } from "../traffic.ts";
import type { GroupWriter } from "./group-writer.ts";
import { everyRun, type HiddenRange, hiddenRuns } from "./hidden.ts";
import { type ClearLine, type HiddenLine, newBirth, openingLine, type ProblemsLine } from "./log-lines.ts";
import type { LogTables } from "./log-tables.ts";
import { noProject } from "./traffic-index.ts";

/** The visible part of the log at a moment, which `restoring` shows again. */
export interface LogMark {
  /** Identifies the log; a log that was emptied is another one. */
  birth: number;
  /** The last request and the last event. */
  n: number;
  seq: number;
  /** Numbers of visible requests and events. */
  requests: number;
  events: number;
  /** Number of evicted requests (default: 0). */
  evicted?: number;
  hidden: { requests: HiddenRange[]; events: HiddenRange[] };
}

export interface CopiedLine {
  line: TrafficLine;
  /** True if its events are hidden. */
  isCleared: boolean;
}

/** Reports that something was hidden, or became visible again. */
export interface Veiled {
  /** Only of this project. */
  project: number | null;
  /** True if everything up to now was hidden; false if another history is shown. */
  isCleared: boolean;
}

interface HidingParts {
  tables: LogTables;
  writer: GroupWriter<unknown>;
  onReplaced: () => void;
  /** The file was switched, and its lines are indexed. */
  onSwitched: () => void;
  onVeiled: (veiled: Veiled) => void;
}

export function createLogHiding(parts: HidingParts) {
  const { tables, writer, onReplaced, onSwitched, onVeiled } = parts;
  const { bytes, name } = tables;

  /** A line that is not appended in parts, with its newline. */
  const lineOf = (content: object): string => {
    const json = JSON.stringify(content);
    return `${bytes.isFile ? sealed(json) : json}\n`;
  };

  /** Writes a line before it takes effect: if the disk refuses it, nothing is hidden. */
  function writeLine(line: object): void {
    writer.begin();
    writer.add(lineOf(line));
    writer.commit();
  }

  function clearProblems(project: number | undefined): void {
    const last = { seq: tables.nextSeq - 1, n: tables.nextRequest - 1 };
    const line: ProblemsLine = { problems_cleared: { project: project ?? null, ...last } };
    writeLine(line);
    tables.index.clearProblems(line);
  }

  function clear(project: number | undefined, andRequests: boolean): number {
    const until = tables.nextSeq - 1;
    const last = { requests: tables.nextRequest - 1 };
    const line: ClearLine = { clear: { project: project ?? null, until, ...(andRequests && last) } };
    writeLine(line);
    const cleared = tables.index.clear(line);
    onVeiled({ project: project ?? null, isCleared: true });
    return cleared;
  }

  function mark(): LogMark {
    const hiding = tables.index.hidingTables();
    const counted = tables.counts();
    return {
      birth: tables.opening.birth,
      n: tables.nextRequest - 1,
      seq: tables.nextSeq - 1,
      requests: counted.requests,
      events: counted.events,
      evicted: counted.evicted_requests,
      hidden: { requests: hiddenRuns(hiding.requests), events: hiddenRuns(hiding.events) },
    };
  }

  /** The text of copied lines with the next numbers, and of the hidden runs. */
  function textOf(lines: readonly CopiedLine[], keepsOld: boolean): string {
    let n = tables.nextRequest;
    let seq = tables.nextSeq;
    const hiding = tables.index.hidingTables();
    const hidden = keepsOld
      ? { requests: everyRun(hiding.requests), events: everyRun(hiding.events) }
      : { requests: [], events: [] };
    let text = "";
    for (const { line, isCleared } of lines) {
      const { n: _n, seq: _seq, events: carried, ...rest } = line;
      const { headers, raw, reply_headers, reply, body, ...head } = rest;
      // in the order in which lines are written: the head first
      const tail = { headers, raw, reply_headers, reply, body };
      const own: TrafficLine = { n: n++, ...head, ...(carried && { seq, events: carried }), ...tail };
      if (carried) {
        const run = { project: line.project ?? noProject, from: seq, to: seq + carried.length - 1 };
        if (isCleared) hidden.events.push(run);
        seq += carried.length;
      }
      text += lineOf(own);
    }
    if (hidden.requests.length + hidden.events.length === 0) return text;
    const last: HiddenLine = { hidden: { n: n - 1, seq: seq - 1, hidden } };
    return text + lineOf(last);
  }

  /** No line may be pending when it is written or taken. */
  function part(text: () => string, { isWhole, isCleared }: { isWhole: boolean; isCleared: boolean }): SwitchPart {
    let content: Buffer | undefined;
    const contentNow = () => {
      content ??= Buffer.from(text());
      return content;
    };
    return {
      write(folder) {
        const file = basename(name);
        writeSynced(join(folder, isWhole ? file : tailName(file, bytes.length)), contentNow());
      },
      take() {
        const from = isWhole ? 0 : bytes.size;
        if (isWhole) bytes.rebase(0, 0);
        bytes.renew(contentNow(), from);
        if (isWhole) onReplaced();
        tables.catchUp(from);
        onSwitched();
        onVeiled({ project: null, isCleared });
      },
    };
  }

  return {
    /** Clears the problems of the events and requests up to now, of one project or of all. @throws the system's error */
    clearProblems,
    /** Hides the events up to now, of one project or of all; their seqs are never used again. @throws the system's error */
    clearEvents: (project?: number) => clear(project, false),
    /** Hides requests and their events. A mark can restore them. @throws the system's error */
    forget: (project?: number) => void clear(project, true),
    mark,
    /**
     * Shows what was visible when the mark was made, and nothing else; nothing if the log was emptied since then.
     * `hasEvents` is true if nothing is missing.
     */
    restoring(given: LogMark) {
      const isSame = given.birth === tables.opening.birth;
      const nothing = { n: 0, seq: 0, hidden: { requests: [], events: [] } };
      const { n, seq, hidden } = isSame ? given : nothing;
      const line: HiddenLine = { hidden: { n, seq, hidden } };
      const shown = part(() => lineOf(line), { isWhole: false, isCleared: false });
      const isWhole = isSame && tables.counts().evicted_requests === (given.evicted ?? 0);
      return { ...shown, hasEvents: isWhole || given.requests === 0 };
    },
    /**
     * Replaces all requests with those of another log; their numbers and seqs become the next ones.
     * @param keepsOld True: old requests are only hidden, and a mark can show them again; false: their space is freed
     */
    replacing(lines: readonly CopiedLine[], keepsOld: boolean) {
      const text = () => {
        const first = { n: tables.nextRequest, seq: tables.nextSeq };
        return `${keepsOld ? "" : openingLine({ birth: newBirth(), ...first })}${textOf(lines, keepsOld)}`;
      };
      return part(text, { isWhole: !keepsOld, isCleared: true });
    },
  };
}

/** Hides and replaces the log's content. Hidden entries keep their numbers, which are never used again. */
export type LogHiding = ReturnType<typeof createLogHiding>;
