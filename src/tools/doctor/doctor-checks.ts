import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type ResultCount, resultText } from "../../testing/run-report/results.ts";
import { type DoctorFacts, type DoctorFinding, ok, problem, type SimFacts, warning } from "./doctor-facts.ts";
import { checkPrefix, checkVariables } from "./doctor-variables.ts";

type Findings = DoctorFinding | DoctorFinding[];

const ofSim =
  (look: (sim: SimFacts, facts: DoctorFacts) => Findings) =>
  (facts: DoctorFacts): Findings =>
    "missing" in facts.sim ? [] : look(facts.sim, facts);

function checkSim({ sim }: DoctorFacts): Findings {
  if ("missing" in sim) return problem(sim.missing, "phx-sim start, or correct the address");
  return ok(`phx-sim ${clean(sim.version, 20)} answers at ${clean(sim.url)} (found by ${clean(sim.foundBy)})`);
}

function checkPreflight({ preflight, sim }: DoctorFacts): Findings {
  if (!preflight || "missing" in sim) return [];
  const { origin, status, allowed } = preflight;
  if (status >= 300 || allowed !== origin)
    return problem(
      `pages of ${clean(origin)} may not send to ${clean(sim.url)}/e/: the preflight is answered with ${status}`,
      "does another program answer there, or a fault? (phx-sim faults list)",
    );
  const isMixed = origin.startsWith("https:") && sim.url.startsWith("http:");
  if (isMixed)
    return warning(
      `pages of ${clean(origin)} are https and the sim is http: some browsers block that`,
      "serve the app by http while testing, or send through the app's own server",
    );
  return ok(`pages of ${clean(origin)} may send to it`);
}

/** Reasons that are listed. */
const mostReasons = 5;

function troubles(what: string, of: SimFacts["traffic"]["dropped"]): DoctorFinding[] {
  const shown = of
    .slice(0, mostReasons)
    .map(
      ({ reason, count, fix }): DoctorFinding => ({
        level: "warning",
        text: `${counted(count, what)}: ${clean(reason, 60)}`,
        ...(fix && { fix: clean(fix) }),
      }),
    );
  const more = of.length - shown.length;
  if (more > 0) shown.push(warning(`… and ${more} more reasons`, "phx-sim events list --outcome dropped"));
  return shown;
}

function resultFinding(it: ResultCount): DoctorFinding {
  const { sentence, fix } = resultText(it);
  const of = `${counted(it.count, "event")} of capture v1 had the result ${it.result}`;
  return warning(`${of}: ${clean(it.details, 60)}: ${sentence}`, fix);
}

function checkTraffic({ traffic }: SimFacts): DoctorFinding[] {
  const { requests, kept, dropped, rejected, results, unmatched } = traffic;
  const arrived =
    requests === 0
      ? warning("no request has arrived yet", "is the app running, with these variables? (they are read at its start)")
      : ok(`${counted(requests, "request")}, ${counted(kept, "event")} kept`);
  const paths = [...new Map(unmatched.map((it) => [it.what, it])).values()].slice(0, mostReasons);
  return [
    arrived,
    ...troubles("dropped event", dropped),
    ...troubles("rejected request", rejected),
    ...results.slice(0, mostReasons).map(resultFinding),
    ...paths.map(({ what, fix }) =>
      warning(`request for a path that does not exist: ${clean(what, 80)}`, clean(fix, 500)),
    ),
  ];
}

const serverLibraries = ["posthog-node", "posthog-ai", "@posthog/ai", "@posthog/nextjs"];

function checkFlush({ traffic }: SimFacts, { libraries }: DoctorFacts): Findings {
  const library = libraries.find(({ name }) => serverLibraries.includes(name));
  if (!library || traffic.kept > 0) return [];
  return warning(
    `${library.name} sends events in batches, and none has arrived`,
    "await client.shutdown() (or flush()) before the process ends; in tests, flushAt: 1",
  );
}

function checkBotFilter({ traffic }: SimFacts): Findings {
  const { browser, kept } = traffic;
  if (!browser || kept > 0) return [];
  const who = browser.automated === null ? "a browser" : `an automated browser (${clean(browser.automated, 40)})`;
  return warning(
    `${who} requested flags or settings and sent no events: posthog-js captures nothing in browsers it takes for bots`,
    "set opt_out_useragent_filter: true in posthog.init for tests",
  );
}

function checkClock({ clock }: SimFacts): Findings {
  if (!clock || (clock.real && !clock.frozen)) return [];
  const how = clock.frozen ? ", and is frozen" : "";
  return warning(
    `the sim's clock shows ${clean(clock.now)}${how}: timestamps and flag rules use it`,
    "phx-sim clock set real, and clock resume, for the machine's time",
  );
}

const checkFaults = ({ faults }: SimFacts): Findings =>
  faults.length === 0
    ? []
    : warning(`faults make requests fail: ${faults.map((it) => clean(it, 60)).join(", ")}`, "phx-sim faults clear");

const checkScenario = ({ scenarioMistakes: [first, ...more] }: SimFacts): Findings =>
  first === undefined
    ? []
    : problem(
        `the scenario's files are not valid, and its last valid version is in force: ${clean(first)}`,
        `fix ${more.length === 0 ? "it" : `it and ${counted(more.length, "other mistake")}`}: phx-sim scenario check lists all`,
      );

/** Major versions that the sim is tested with. */
const triedMajors: Readonly<Record<string, number>> = { "posthog-js": 1, "posthog-node": 5 };

/** Versions whose requests another one sends in the tests. */
const standIns: Readonly<Record<string, string>> = {
  "posthog-node 6": "phx-sim is tested with capture v1 of version 5",
};

function checkLibraries({ libraries }: DoctorFacts): DoctorFinding[] {
  return libraries.map(({ name, version }) => {
    const tried = Object.hasOwn(triedMajors, name) ? triedMajors[name] : undefined;
    const major = /\d+/.exec(version)?.[0];
    const text = `${name} ${clean(version, 40)}`;
    if (tried === undefined || major === undefined || Number(major) === tried) return ok(text);
    const standIn = `${name} ${major}`;
    if (Object.hasOwn(standIns, standIn)) return ok(`${text}: ${standIns[standIn]}`);
    return warning(
      `${text}: phx-sim is tested with version ${tried}`,
      "other versions may send requests that it does not know; please report them",
    );
  });
}

/** The checks by name, in the order of their output. */
const checks: Readonly<Record<string, (facts: DoctorFacts) => Findings>> = {
  sim: checkSim,
  scenario: ofSim(checkScenario),
  variables: checkVariables,
  prefix: checkPrefix,
  libraries: checkLibraries,
  cors: checkPreflight,
  traffic: ofSim(checkTraffic),
  flush: ofSim(checkFlush),
  "bot-filter": ofSim(checkBotFilter),
  clock: ofSim(checkClock),
  faults: ofSim(checkFaults),
};

/** All findings, each with its check's name. */
export const diagnose = (facts: DoctorFacts): (DoctorFinding & { check: string })[] =>
  Object.entries(checks).flatMap(([check, look]) => [look(facts)].flat().map((finding) => ({ check, ...finding })));
