import { basename, join } from "node:path";
import { once } from "../../../kernel/base/work.ts";
import { sealed } from "../../../kernel/store/lines.ts";
import { type SwitchPart, tailName, writeSynced } from "../../../kernel/store/switch.ts";
import type { TrafficLine } from "../traffic.ts";
import type { GroupWriter } from "./group-writer.ts";
import { everyRun, type HiddenRange, hiddenRuns } from "./hidden.ts";
import { type ClearLine, type HiddenLine, newBirth, openingLine, type ProblemsLine } from "./log-lines.ts";
import type { LogTables } from "./log-tables.ts";
import { noProject } from "./traffic-index.ts";

export interface LogMark {
  /** Identifies the log; a log that was emptied is another one. */
  birth: number;
  n: number;
  seq: number;
  requests: number;
  events: number;
  evicted?: number;
  hidden: { requests: HiddenRange[]; events: HiddenRange[] };
}

export interface CopiedLine {
  line: TrafficLine;
  isCleared: boolean;
}

export interface Veiled {
  project: number | null;
  /** True if everything up to now was hidden; false if another history is shown. */
  isCleared: boolean;
}

interface HidingParts {
  tables: LogTables;
  writer: GroupWriter<unknown>;
  onReplaced: () => void;
  onSwitched: () => void;
  onVeiled: (veiled: Veiled) => void;
}

/** Hides and replaces the log's content. Hidden entries keep their numbers, which are never used again. */
export class LogHiding {
  readonly #parts: HidingParts;
  readonly #tables: LogTables;

  constructor(parts: HidingParts) {
    this.#parts = parts;
    this.#tables = parts.tables;
  }

  #lineOf(content: object): string {
    const json = JSON.stringify(content);
    return `${this.#tables.bytes.isFile ? sealed(json) : json}\n`;
  }

  /** Writes a line before it takes effect: if the disk refuses it, nothing is hidden. */
  #writeLine(line: object): void {
    const { writer } = this.#parts;
    writer.begin();
    writer.add(this.#lineOf(line));
    writer.commit();
  }

  clearProblems(project: number | undefined): void {
    const last = { seq: this.#tables.nextSeq - 1, n: this.#tables.nextRequest - 1 };
    const line: ProblemsLine = { problems_cleared: { project: project ?? null, ...last } };
    this.#writeLine(line);
    this.#tables.index.clearProblems(line);
  }

  /** Hides events, and requests if `andRequests` is set. Returns how many events it hid. */
  clear(project: number | undefined, andRequests: boolean): number {
    const until = this.#tables.nextSeq - 1;
    const last = { requests: this.#tables.nextRequest - 1 };
    const line: ClearLine = { clear: { project: project ?? null, until, ...(andRequests && last) } };
    this.#writeLine(line);
    const cleared = this.#tables.index.clear(line);
    this.#parts.onVeiled({ project: project ?? null, isCleared: true });
    return cleared;
  }

  mark(): LogMark {
    const tables = this.#tables;
    const hiding = tables.index.hidingTables();
    const { requests, events, evicted_requests: evicted } = tables.counts();
    return {
      birth: tables.opening.birth,
      n: tables.nextRequest - 1,
      seq: tables.nextSeq - 1,
      requests,
      events,
      evicted,
      hidden: { requests: hiddenRuns(hiding.requests), events: hiddenRuns(hiding.events) },
    };
  }

  #textOf(lines: readonly CopiedLine[], keepsOld: boolean): string {
    const tables = this.#tables;
    let n = tables.nextRequest;
    let seq = tables.nextSeq;
    const hiding = tables.index.hidingTables();
    const hidden = keepsOld
      ? { requests: everyRun(hiding.requests), events: everyRun(hiding.events) }
      : { requests: [], events: [] };
    let text = "";
    for (const { line, isCleared } of lines) {
      const { n: _n, seq: _seq, events: carried, headers, raw, reply_headers, reply, body, ...head } = line;
      // in the order in which lines are written: the head first
      const tail = { headers, raw, reply_headers, reply, body };
      const copy: TrafficLine = { n: n++, ...head, ...(carried && { seq, events: carried }), ...tail };
      if (carried) {
        const run = { project: line.project ?? noProject, from: seq, to: seq + carried.length - 1 };
        if (isCleared) hidden.events.push(run);
        seq += carried.length;
      }
      text += this.#lineOf(copy);
    }
    if (hidden.requests.length + hidden.events.length === 0) return text;
    const last: HiddenLine = { hidden: { n: n - 1, seq: seq - 1, hidden } };
    return text + this.#lineOf(last);
  }

  /** No line may be pending when it is written or taken. */
  #part(text: () => string, { isWhole, isCleared }: { isWhole: boolean; isCleared: boolean }): SwitchPart {
    const { onReplaced, onSwitched, onVeiled } = this.#parts;
    const tables = this.#tables;
    const { bytes, name } = tables;
    const content = once(() => Buffer.from(text()));
    return {
      write(folder) {
        const file = basename(name);
        writeSynced(join(folder, isWhole ? file : tailName(file, bytes.length)), content());
      },
      take() {
        const from = isWhole ? 0 : bytes.size;
        if (isWhole) bytes.rebase(0, 0);
        bytes.renew(content(), from);
        if (isWhole) onReplaced();
        tables.catchUp(from);
        onSwitched();
        onVeiled({ project: null, isCleared });
      },
    };
  }

  restoring(mark: LogMark): SwitchPart & { readonly hasEvents: boolean } {
    const isSame = mark.birth === this.#tables.opening.birth;
    const nothing = { n: 0, seq: 0, hidden: { requests: [], events: [] } };
    const { n, seq, hidden } = isSame ? mark : nothing;
    const line: HiddenLine = { hidden: { n, seq, hidden } };
    const shown = this.#part(() => this.#lineOf(line), { isWhole: false, isCleared: false });
    const isWhole = isSame && this.#tables.counts().evicted_requests === (mark.evicted ?? 0);
    return { ...shown, hasEvents: isWhole || mark.requests === 0 };
  }

  replacing(lines: readonly CopiedLine[], keepsOld: boolean): SwitchPart {
    const text = () => {
      const first = { n: this.#tables.nextRequest, seq: this.#tables.nextSeq };
      return `${keepsOld ? "" : openingLine({ birth: newBirth(), ...first })}${this.#textOf(lines, keepsOld)}`;
    };
    return this.#part(text, { isWhole: !keepsOld, isCleared: true });
  }
}
