import type { LintEvent, LintRequest, Serving } from "../../../src/lab/lint/request.ts";

const arrival = Date.UTC(2026, 5, 1, 12);
const isoOf = (time: number): string => new Date(time).toISOString();

/** An event that a node server sends; `ago` is how long it took to arrive, ms. */
export const event = (
  name: string,
  properties: LintEvent["properties"] = {},
  { ago = 0, ...more }: Partial<LintEvent> & { ago?: number } = {},
): LintEvent => ({
  seq: 0,
  event: name,
  distinct_id: "u1",
  uuid: null,
  time: arrival - ago,
  timestamp: isoOf(arrival - ago),
  dropped: undefined,
  warnings: [],
  properties,
  set: undefined,
  setOnce: undefined,
  ...more,
});

const serving = (values: Record<string, boolean | string>, more: Partial<Serving> = {}): Serving => ({
  distinctId: "u1",
  anonymousId: undefined,
  requested: [],
  values: new Map(Object.entries(values)),
  ...more,
});

/** A request that carries events, or was given flags. */
export const request = (events: readonly LintEvent[], more: Partial<LintRequest> = {}): LintRequest => ({
  n: 0,
  at: arrival,
  answeredAt: arrival,
  project: 1,
  bytes: 1_000,
  mostBytes: 20 * 1024 * 1024,
  isHistorical: false,
  isTimed: true,
  sender: undefined,
  serving: undefined,
  fetchesDefinitions: false,
  recorded: [],
  events,
  ...more,
});

/** Flags were served a second before everything else arrived. */
export const served = (
  values: Record<string, boolean | string>,
  more: Partial<Serving> = {},
  sender?: string,
): LintRequest =>
  request([], { at: arrival - 1_000, answeredAt: arrival - 1_000, serving: serving(values, more), sender });

/** Numbers requests and events as the journal does. */
export function numbered(requests: readonly LintRequest[]): LintRequest[] {
  let seq = 0;
  return requests.map((it, i) => ({ ...it, n: i + 1, events: it.events.map((one) => ({ ...one, seq: ++seq })) }));
}
