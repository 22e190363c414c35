import { type RunFacts, verdictOf } from "../../../src/testing/run-report/run-report.ts";
import { type CountedRequest, Tally } from "../../../src/testing/run-report/tally.ts";

const request = (given: Partial<CountedRequest> = {}): CountedRequest => ({
  method: "POST",
  target: "/capture/",
  at: Date.UTC(2026, 0, 1),
  project: 1,
  projectName: undefined,
  unmatched: false,
  scripted: false,
  kept: [],
  warned: 0,
  dropped: [],
  ...given,
});

export const drop = (event: string) => ({
  event,
  reason: "missing_distinct_id",
  sentence: "it has none",
  fix: "send one",
});

export const tallyOf = (...requests: readonly Partial<CountedRequest>[]) => {
  const tally = new Tally({ projectKey: "phc_x", maskPath: (path) => path });
  for (const it of requests) tally.add(request(it));
  return tally;
};

/** The facts of a run without traffic whose command passed. */
const facts = (given: Partial<RunFacts> = {}): RunFacts => ({
  title: "npm",
  command: { program: "npm", exit_code: 0 },
  started: Date.UTC(2026, 0, 1),
  ended: Date.UTC(2026, 0, 1, 0, 1),
  failOn: [],
  traffic: tallyOf(),
  blocked: [],
  plan: null,
  lint: [],
  sdks: { sdks: [], more: 0 },
  flags: [],
  tape: null,
  sections: [],
  problems: [],
  files: [],
  ...given,
});

export const verdict = (given: Partial<RunFacts> = {}) => verdictOf(facts(given));
