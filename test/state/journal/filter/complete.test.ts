import { expect, test } from "vitest";
import { completeFilter } from "../../../../src/state/journal/filter/complete.ts";
import type { FilterKind } from "../../../../src/state/journal/filter/types.ts";

const known = {
  events: ["$pageview", "sign up", "signup", "x".repeat(300), ""],
  distinctIds: ["user-1"],
  properties: ["plan", "$current_url", "a.b"],
  reasons: ["our_own", "missing_event_name"],
};

/** What the text becomes by each of the first few completions; `|` is the caret. */
function completed(marked: string, kind: FilterKind = "events", most = 3): string[] {
  const caret = marked.indexOf("|");
  const text = marked.replace("|", "");
  return completeFilter(text, caret, kind, known)
    .slice(0, most)
    .map((it) => `${text.slice(0, it.from)}${it.text}${text.slice(it.to)}`);
}

const rows: [marked: string, expected: string[]][] = [
  ["|", ["event:", "distinct_id:", "person:"]],
  ["ev|", ["event:"]],
  ["EV|", ["event:"]],
  ["is:dropped |", ["is:dropped event:", "is:dropped distinct_id:", "is:dropped person:"]],
  ["is:dropped st|", ["is:dropped status:", "is:dropped distinct_id:", "is:dropped request:"]],
  ["-ev|", ["-event:"]],
  ["(ev|)", ["(event:)"]],
  ["(a) |", ["(a) event:", "(a) distinct_id:", "(a) person:"]],
  ["ev|ent:a", []],
  ["sta|:a", ["status:a"]],
  ["verd|", ["outcome:"]],
  ["cur|", ["prop.$current_url:"]],
  ["prop|", ["prop.", "prop.plan:", "prop.$current_url:"]],
  ["prop.|", ["prop.plan:", "prop.$current_url:", 'prop."a.b":']],
  ["prop.pl|:pro", ["prop.plan:pro"]],
  ["event:|", ["event:$pageview", 'event:"sign up"', "event:signup"]],
  ["event:SI|", ['event:"sign up"', "event:signup"]],
  ["event:si| status:400", ['event:"sign up" status:400', "event:signup status:400"]],
  ['event:"si|', ['event:"sign up"', "event:signup"]],
  ['event:"si| status:400', ['event:"sign up" status:400', "event:signup status:400"]],
  ['event:"si|gn"', ['event:"sign up"', "event:signup"]],
  ["event:a,sig|", ['event:a,"sign up"', "event:a,signup"]],
  ["event:signup|", []],
  ["event!=sign|", ['event!="sign up"', "event!=signup"]],
  ["id:|", ["id:user-1"]],
  ["is:|", ["is:kept", "is:dropped", "is:warned"]],
  ["is:dr|", ["is:dropped"]],
  ["is:kept,w|", ["is:kept,warned"]],
  ["outcome:|", ["outcome:kept", "outcome:dropped"]],
  ["reason:our|", ["reason:our_own"]],
  ["reason:missing_e|", ["reason:missing_event_name"]],
  ["has:|", ["has:prop.plan", "has:prop.$current_url", 'has:prop."a.b"']],
  ["has:fa|", ["has:fault"]],
  ["has:pl|", ["has:prop.plan"]],
  ["method:p|", ["method:POST", "method:PATCH", "method:PUT"]],
  ["since:|", ["since:1m", "since:5m", "since:1h"]],
  ["status:>=4|", ["status:>=400", "status:>=401", "status:>=404"]],
  ["status:>|=4", []],
  ["prop.plan:|", []],
  ["nope:|", []],
  ['"ev|', []],
  ['"ev|"', []],
  ["zzz|", []],
];
test.each(rows)("%s", (marked, expected) => {
  expect(completed(marked)).toEqual(expected);
});

test("of requests", () => {
  expect(completed("is:an|", "requests")).toEqual(["is:answered"]);
  expect(completed("outcome:|", "requests")).toEqual(["outcome:answered", "outcome:rejected"]);
  expect(completed("eve|", "requests")).toEqual(["events:", "event:"]);
});

test("each says what it means", () => {
  const notes = (text: string) => completeFilter(text, text.length, "events", known).map((it) => it.note);
  expect(notes("is:kep")).toEqual(["it was kept as sent"]);
  expect(notes("reason:missing_event")).toEqual(["the event has no name"]);
  expect(notes("event:signu")).toEqual(["seen"]);
  expect(notes("stat").every((it) => it !== "")).toBe(true);
});

test("not more than fifty, and nothing that is too long", () => {
  const many = { ...known, events: Array.from({ length: 200 }, (_, i) => `event-${i}`) };
  expect(completeFilter("event:", 6, "events", many)).toHaveLength(50);
  expect(completed("event:xx|")).toEqual([]);
});
