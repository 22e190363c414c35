import type { Outcome } from "../../../src/state/journal/outcomes.ts";
import type { Totals } from "../../../src/state/journal/totals-answer.ts";
import { counted, numberText } from "../../parts/text.ts";

/** Each event once: kept + warned + dropped = total. Rejected are requests. */
export interface Figures {
  readonly kept: number;
  readonly warned: number;
  readonly dropped: number;
  readonly total: number;
  readonly rejected: number;
  readonly requests: number;
  readonly isExact: boolean;
}

/** A dropped event may have warnings as well, but counts as dropped. */
export function figuresOf({ events, requests }: Pick<Totals, "events" | "requests">): Figures {
  const warned = Math.min(events.warned, events.kept);
  return {
    kept: events.kept - warned,
    warned,
    dropped: events.dropped,
    total: events.total,
    rejected: requests.rejected,
    requests: requests.total,
    isExact: events.complete && requests.complete,
  };
}

/** `1.5 %`; never `0 %` for some, nor `100 %` for not all. */
export function shareText(part: number, all: number): string {
  if (all === 0 || part === 0) return "0 %";
  if (part === all) return "100 %";
  const share = (part / all) * 100;
  if (share < 0.1) return "under 0.1 %";
  return share > 99.9 ? "over 99.9 %" : `${share.toFixed(1).replace(/\.0$/, "")} %`;
}

export interface Verdict {
  /** The worst outcome; undefined while nothing arrived. */
  readonly of: Outcome | undefined;
  readonly sentence: string;
}

const lostText = ({ dropped, total }: Figures): string => {
  if (dropped < total) return `Events arrive, but ${shareText(dropped, total)} are lost`;
  return dropped === 1 ? "An event arrived, but it is lost" : "Events arrive, but all are lost";
};

const all = (total: number): string =>
  total === 1 ? "The one event is kept" : `All ${numberText(total)} events are kept`;

/** The state of the traffic as a sentence. */
export function verdictOf(figures: Figures): Verdict {
  const { total, dropped, rejected, warned, requests } = figures;
  if (total === 0) {
    if (rejected === 0) return { of: undefined, sentence: "Nothing has arrived yet" };
    const sentence = rejected === requests ? "Requests arrive, but all are rejected" : "Requests arrive, but no events";
    return { of: "rejected", sentence };
  }
  if (dropped > 0) return { of: "dropped", sentence: lostText(figures) };
  if (rejected > 0) {
    const what = `${counted(rejected, "request")} ${rejected === 1 ? "is" : "are"} rejected`;
    return { of: "rejected", sentence: `${all(total)}, but ${what}` };
  }
  if (warned > 0) {
    const those = warned === total ? "with a warning" : `${numberText(warned)} with a warning`;
    return { of: "warned", sentence: `${all(total)}, ${those}` };
  }
  return { of: "kept", sentence: all(total) };
}

/** What to look at, below the verdict. */
export function aboutText(found: {
  lossy: number;
  /** Problems of requests that carry no events. */
  others: number;
  warned: number;
  news: number;
  findings: number;
}): string {
  const { lossy, others, warned, news, findings } = found;
  const parts = [
    lossy > 0 && `${counted(lossy, "problem")} ${lossy === 1 ? "loses" : "lose"} data`,
    others > 0 && `${counted(others, "problem")} of other requests`,
    warned > 0 && `${counted(warned, "warning")} to read`,
    findings > 0 && `${counted(findings, "finding")} of the linter`,
  ].filter((it) => it !== false);
  const first = parts.length === 0 ? "No problems." : `${parts.join(", ")}.`;
  return news === 0 ? first : `${first} ${numberText(news)} ${news === 1 ? "is" : "are"} new since you looked.`;
}
