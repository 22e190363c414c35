import { setImmediate as turn } from "node:timers/promises";
import { isObject, type Json, type JsonObject, objectsIn } from "../../kernel/base/json.ts";
import { performance } from "../../kernel/base/real-time.ts";
import { inSlices, type Stepwise } from "../../kernel/base/work.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { liveResources } from "../../state/documents/resources.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { Linter } from "./linter.ts";
import { lintRequestOf } from "./request.ts";
import type { LintPort } from "./rule.ts";
import { LintPage, LintQuery, longestWork } from "./shapes.ts";

interface LintPorts {
  readonly log: TrafficLog;
  readonly clock: { readonly isReal: boolean };
  readonly closing: AbortSignal;
  readonly people: {
    groupTypes(project: number): readonly string[];
    group(project: number, type: number, key: string): unknown;
  };
  readonly worlds: Pick<WorldStore, "current" | "versionOf">;
}

const metricNodes = (metrics: Json | undefined): JsonObject[] =>
  objectsIn(metrics).flatMap((metric) => [...objectsIn(metric.series), ...Object.values(metric).filter(isObject)]);

function measuredFlags({ current }: LintPorts["worlds"], project: number): Map<unknown, string[]> {
  const flags = new Map<unknown, string[]>();
  for (const { fields } of liveResources(current, "experiments", project)) {
    const { start_date: start, end_date: end, feature_flag_id: id, feature_flag_key: key } = fields;
    const flag = current.feature_flags.find((it) => it.project === project && it.id === id)?.key ?? key;
    if (!start || end || typeof flag !== "string") continue;
    for (const { kind, event } of [fields.metrics, fields.metrics_secondary].flatMap(metricNodes)) {
      const known = flags.get(event) ?? [];
      if (kind === "EventsNode" && !known.includes(flag)) flags.set(event, [...known, flag]);
    }
  }
  return flags;
}

function portOf({ people, worlds }: LintPorts): LintPort {
  /** By project, of one version of the documents: every event asks. */
  const measured = new Map<number, Map<unknown, string[]>>();
  let version = "";
  return {
    hasGroup(project, type, key) {
      const index = people.groupTypes(project).indexOf(type);
      return index !== -1 && people.group(project, index, key) !== undefined;
    },
    variantShares(project, key) {
      const { feature_flags: flags, flag_overrides: overrides } = worlds.current;
      const flag = flags.find((it) => it.project === project && it.key === key && !it.deleted);
      const { multivariate, groups = [], aggregation_group_type_index: group } = flag?.filters ?? {};
      const isForced = overrides.some((it) => it.project === project && it.flag === key);
      if (!multivariate || isForced || (group ?? null) !== null || groups.some(({ variant }) => variant))
        return undefined;
      return multivariate.variants.map((it) => ({ variant: it.key, percentage: it.rollout_percentage }));
    },
    flagsMeasuredBy(project, event) {
      const now = `${worlds.versionOf("resources")}/${worlds.versionOf("feature_flags")}`;
      if (now !== version) measured.clear();
      version = now;
      const known = measured.get(project) ?? measuredFlags(worlds, project);
      measured.set(project, known);
      return known.get(event) ?? [];
    },
  };
}

/** Of more new events (or requests) than this, only the newest are examined. */
const mostNew = 100_000;
const sliceMs = 4;

/** Feeds the log to the linter on demand; requests are not slowed down. */
class LogFollower {
  readonly #ports: Pick<LintPorts, "log" | "clock" | "closing">;
  readonly #linter: Linter;
  #n = 0;
  #seq = 0;
  #looked = 0;
  #skipped = 0;
  #hasGap = false;
  #working: Promise<void> = Promise.resolve();
  /** Changes when it starts from another request. */
  #restarts = 0;

  constructor(ports: Pick<LintPorts, "log" | "clock" | "closing">, linter: Linter) {
    this.#ports = ports;
    this.#linter = linter;
    const { log } = ports;
    log.onVeiled(({ project, isCleared }) => {
      linter.forget(project ?? undefined);
      if (project !== null) return;
      this.#restarts++;
      [this.#looked, this.#skipped] = [0, 0];
      [this.#n, this.#seq] = isCleared ? [log.lastRequest, log.lastSeq] : [0, 0];
    });
  }

  /** Examines new requests; stops after about `maxMs` of work. */
  catchUp(maxMs: number): Promise<void> {
    const done = this.#working.then(() => this.#work(maxMs));
    this.#working = done.catch(() => {});
    return done;
  }

  get progress() {
    const behind = Math.max(0, this.#ports.log.lastSeq - this.#seq);
    return { looked: this.#looked, skipped: this.#skipped, behind, cursor: this.#seq };
  }

  async #work(maxMs: number): Promise<void> {
    const { log, closing } = this.#ports;
    let left = maxMs;
    while (this.#n < log.lastRequest && left > 0 && !closing.aborted) {
      this.#skip();
      const start = performance.now();
      let spent = 0;
      while (this.#n < log.lastRequest && spent < Math.min(sliceMs, left)) {
        const rest = inSlices(this.#step());
        if (rest) await rest;
        spent = performance.now() - start;
      }
      left -= spent;
      await turn();
    }
    if (this.#n >= log.lastRequest) this.#pass(log.lastSeq + 1, log.lastSeq);
  }

  #skip(): void {
    const { log } = this.#ports;
    const first = log.lastSeq - mostNew + 1;
    const next = first > this.#seq + 1 ? (this.#requestBefore(first, log.lastSeq) ?? log.lastRequest) : this.#n;
    const start = Math.max(next, log.lastRequest - mostNew);
    if (start <= this.#n) return;
    this.#n = start;
    this.#hasGap = true;
    this.#linter.skip();
  }

  /** Events up to `last` are done; those before `first` were skipped. */
  #pass(first: number, last: number): void {
    if (this.#hasGap) this.#skipped += Math.max(0, first - 1 - this.#seq);
    this.#hasGap = false;
    this.#seq = Math.max(this.#seq, last);
  }

  #requestBefore(first: number, last: number): number | undefined {
    let next: number | undefined;
    this.#ports.log.eachEvent(first, last, {}, ({ n }) => {
      next ??= n - 1;
    });
    return next;
  }

  *#step(): Stepwise<void> {
    const { log, clock } = this.#ports;
    this.#n++;
    const bytes = log.sizeOf(this.#n);
    const before = this.#restarts;
    const line = yield* log.reading(this.#n);
    if (!line || before !== this.#restarts) return;
    const count = line.events?.length ?? 0;
    if (line.seq !== undefined) {
      this.#pass(line.seq, line.seq + count - 1);
      if (this.#requestBefore(line.seq, line.seq) === undefined) return;
    }
    const request = lintRequestOf(line, bytes, clock.isReal);
    if (!request) return;
    this.#looked += count;
    yield* this.#linter.examine(request);
  }
}

/** The endpoint of the linter. It reads the journal on request, so captures do not pay for it. */
export const lintSlice = slice(["log", "clock", "closing", "people", "worlds"], (ports: LintPorts) => {
  const linter = new Linter(portOf(ports));
  const follower = new LogFollower(ports, linter);
  return [
    row({
      method: "GET",
      path: "/__sim/lint",
      access: "control",
      summary:
        "Lists likely mistakes in the captured traffic: wrong flag values, odd times, personal data, names and types that differ",
      query: LintQuery,
      reply: LintPage,
      async handle({ query }) {
        await follower.catchUp(query.max_ms ?? longestWork);
        return { findings: linter.findings(query.project), ...follower.progress };
      },
    }),
  ];
});
