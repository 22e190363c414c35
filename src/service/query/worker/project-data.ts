import type { Json } from "../../../kernel/base/json.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { outsideEvents } from "../../../state/journal/items.ts";
import { requestIn } from "../../../state/journal/log/log-lines.ts";
import type { LineBytes } from "../../../state/journal/log/log-scan.ts";
import { keptProperty, keysOf, showEvent } from "../../../state/journal/show.ts";
import type { EventKey, TrafficLine } from "../../../state/journal/traffic.ts";
import type { ProjectFacts, QueryGroup, QueryPerson } from "../kind.ts";
import { memo } from "../memo.ts";
import type { ProjectEvents, QueryEvent } from "../table.ts";
import type { AskSim } from "./messages.ts";

/** Bytes of lines that stay parsed; others are parsed again each time that a query reads one of their events. */
const mostParsed = 160 * 1024 * 1024;

interface HeldLine {
  readonly line: TrafficLine;
  /** Bytes of its text; 0 if it is parsed again each time. */
  readonly parsed: number;
}

class KeptEvent implements QueryEvent {
  readonly seq: number;
  readonly time: number;
  readonly event: string;
  readonly distinct_id: string;
  readonly person: string;
  readonly held: HeldLine;
  readonly #index: number;

  constructor(held: HeldLine, seq: number, index: number, { event, distinct_id }: EventKey) {
    const { time = 0, person } = held.line.events?.[index] ?? {};
    this.seq = seq;
    this.time = time;
    this.event = event;
    this.distinct_id = distinct_id;
    this.person = person ?? "";
    this.held = held;
    this.#index = index;
  }

  property = (name: string): Json | undefined => keptProperty(this.held.line, this.#index, name);
  stored = (): StoredEvent => showEvent(this.held.line, this.#index);
}

/** What the process of queries keeps of a project: what it asked the sim for, as long as it is the same there. */
export class ProjectData implements ProjectEvents {
  readonly #ask: AskSim;
  readonly #most: number;
  #events: KeptEvent[] = [];
  #epoch = -1;
  #readTo = 0;
  #parsed = 0;
  #peopleVersion = -1;
  #owners = new Map<string, string | null>();
  #persons: Map<string, QueryPerson> | undefined;
  #groups: Map<string, QueryGroup> | undefined;

  /** @param most Bytes of lines that stay parsed */
  constructor(ask: AskSim, most = mostParsed) {
    this.#ask = ask;
    this.#most = most;
  }

  /** Bytes of the lines that are parsed. */
  get size(): number {
    return this.#parsed;
  }

  get events(): readonly QueryEvent[] {
    return this.#events;
  }

  /** Reads what is new since the last query; all of it if events went, or came back. */
  update(): void {
    for (let state = this.#ask("state", undefined); ; ) {
      const { epoch, people, firstHeld, last } = state;
      if (epoch !== this.#epoch) {
        this.#events = [];
        this.#readTo = 0;
        this.#parsed = 0;
      }
      if (people !== this.#peopleVersion) {
        this.#owners = new Map();
        this.#persons = undefined;
        this.#groups = undefined;
      }
      this.#epoch = epoch;
      this.#peopleVersion = people;
      if ((this.#events[0]?.seq ?? firstHeld) < firstHeld) this.#evict(firstHeld);
      if (this.#readTo >= last) return;
      let pieces: Buffer[] = [];
      for (const { bytes, seqs } of this.#ask("lines", { since: this.#readTo, until: last })) {
        pieces.push(bytes);
        if (seqs.length === 0) continue;
        this.#add(Buffer.concat(pieces), seqs);
        pieces = [];
      }
      this.#readTo = last;
      state = this.#ask("state", undefined);
      if (state.epoch === epoch) return;
    }
  }

  /** Lines of evicted events make room for others. */
  #evict(firstHeld: number): void {
    this.#events = this.#events.filter(({ seq }) => seq >= firstHeld);
    this.#parsed = 0;
    for (const held of new Set(this.#events.map((it) => it.held))) this.#parsed += held.parsed;
  }

  #add(bytes: Buffer, seqs: LineBytes["seqs"]): void {
    const held = this.#hold(bytes);
    const line = held?.line;
    if (!held || line?.seq === undefined) return;
    const keys = keysOf(line);
    for (const seq of seqs) {
      const key = keys[seq - line.seq];
      if (key && !outsideEvents.has(key.event)) this.#events.push(new KeptEvent(held, seq, seq - line.seq, key));
    }
  }

  /** Lines beyond the limit keep their bytes, of which the line is made whenever it is read. */
  #hold(bytes: Buffer): HeldLine | undefined {
    const line = requestIn(bytes, true)?.line;
    if (!line) return undefined;
    if (this.#parsed + bytes.length <= this.#most) {
      this.#parsed += bytes.length;
      return { line, parsed: bytes.length };
    }
    let last = new WeakRef(line);
    return {
      parsed: 0,
      get line() {
        const known = last.deref() ?? requestIn(bytes, true)?.line;
        // it was read before
        if (!known) throw new Error("a bug in phx-sim: a line of the journal cannot be read again");
        last = new WeakRef(known);
        return known;
      },
    };
  }

  readonly owner = (distinctId: string): string | undefined => {
    if (!this.#owners.has(distinctId)) this.#readOwners();
    return this.#owners.get(distinctId) ?? undefined;
  };

  #readOwners(): void {
    const ids = [...new Set(this.#events.map((it) => it.distinct_id))].filter((it) => !this.#owners.has(it));
    for (const [i, owner] of this.#ask("owners", ids).entries()) this.#owners.set(ids[i] ?? "", owner);
  }

  persons(): Iterable<QueryPerson> {
    return this.#personMap().values();
  }

  #personMap(): ReadonlyMap<string, QueryPerson> {
    this.#persons ??= new Map(this.#ask("persons", undefined).map((it) => [it.uuid, it]));
    return this.#persons;
  }

  readonly person = (uuid: string): QueryPerson | undefined => this.#personMap().get(uuid);

  groups(): Iterable<QueryGroup> {
    return this.#groupMap().values();
  }

  #groupMap(): ReadonlyMap<string, QueryGroup> {
    this.#groups ??= new Map(this.#ask("groups", undefined).map((it) => [`${it.type} ${it.key}`, it]));
    return this.#groups;
  }

  readonly group = (type: number, key: string): QueryGroup | undefined => this.#groupMap().get(`${type} ${key}`);
}

/** Documents, persons and groups of the project of a query, as it asks for them. */
export function remoteFacts(
  ask: AskSim,
  data: ProjectData,
): Omit<ProjectFacts, "timeZone" | "weekStart" | "testAccountFilters"> {
  const members = memo((id: number) => new Set(ask("members", id)));
  return {
    action: memo((id) => ask("action", id)),
    experiment: memo((id) => ask("experiment", id)),
    cohort: memo((id) => {
      const name = ask("cohort", id);
      return name === undefined ? undefined : { name, has: (person) => members(id).has(person) };
    }),
    person: data.person,
    persons: () => data.persons(),
    groups: () => data.groups(),
  };
}
