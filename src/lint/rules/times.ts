import type { LintEvent, LintRequest, Remark, Rule } from "../types.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** So many events this old in one request are an import. */
const bulk = 10;
const oldAge = 2 * day;

const iso =
  /^[+-]?\d{4,6}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?)?$/i;

const spanText = (ms: number): string =>
  ms < 3 * day ? `${Math.round(ms / hour)} hours` : `${Math.round(ms / day)} days`;

const remark = (code: Remark["code"], { event, seq }: LintEvent, detail: string): Remark => ({
  code,
  event,
  subject: "",
  detail,
  seq,
});

const isInFuture = ({ warnings }: LintEvent): boolean => warnings.includes("timestamp_in_the_future");

function skewOf(it: LintEvent, at: number): Remark | undefined {
  if (isInFuture(it)) return remark("timestamp_skew", it, "in the future");
  const age = at - it.time;
  return age > day ? remark("timestamp_skew", it, `${spanText(age)} before it arrived`) : undefined;
}

function skews({ at, isHistorical, isTimed, events }: LintRequest): Remark[] {
  if (isHistorical || !isTimed) return [];
  const timed = events.filter((it) => it.dropped === undefined && it.timestamp !== undefined);
  const old = timed.filter((it) => at - it.time > oldAge);
  const [first] = old;
  const isBulk = first !== undefined && old.length >= bulk;
  const missing = isBulk
    ? [
        {
          ...remark(
            "historical_migration_missing",
            first,
            `${old.length} of ${events.length} events are older than two days`,
          ),
          event: null,
        },
      ]
    : [];
  return [...missing, ...timed.flatMap((it) => (isBulk && !isInFuture(it) ? [] : (skewOf(it, at) ?? [])))];
}

const isOdd = ({ timestamp }: LintEvent): boolean => timestamp !== undefined && !iso.test(timestamp.trim());

/** `timestamp_not_iso`, `timestamp_skew`, `historical_migration_missing` */
export const times = (): Rule => ({
  look(request, { tell }) {
    for (const it of request.events) {
      if (isOdd(it))
        tell(
          remark(
            "timestamp_not_iso",
            it,
            it.warnings.includes("ignored_invalid_timestamp")
              ? "it cannot be read; the time of arrival was taken"
              : "it could be read all the same",
          ),
        );
    }
    for (const it of skews(request)) tell(it);
  },
});
