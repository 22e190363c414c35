import { performance } from "node:perf_hooks";
import { counted, times } from "../../kernel/base/text.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import type { RecordingFind, RecordingFindings, StoredSession } from "../../lab/sessions/client.ts";
import { causesOr, type MatcherCall, type MatcherOutcome, messageOf, type RecordedOptions } from "./matcher.ts";

/** posthog-js sends what it has recorded after 2 s: by then what was on the page before the call has arrived. */
const defaultQuiet = 2_500;
/** How long a recording that goes on is waited for in addition, ms. */
const patience = 1_500;
/** How long a request may take that is on its way when it is quiet, ms. */
const inFlight = 1_000;
const mostLines = 10;

const limited = (lines: readonly string[], noun: string): string[] =>
  lines.length <= mostLines
    ? [...lines]
    : [...lines.slice(0, mostLines), `  … and ${counted(lines.length - mostLines, noun)} more`];

const shared = { fewest: 3, longest: 1_000, most: 200 };

/** @throws TypeError, which does not show a value */
function checkValues(title: string, values: unknown): asserts values is readonly string[] {
  const { fewest, longest, most } = shared;
  if (!Array.isArray(values) || values.length === 0 || values.length > most)
    throw new TypeError(`${title}: expected a list of 1 to ${most} values`);
  const wrong = values.findIndex((it) => typeof it !== "string" || it.trim().length < fewest || it.length > longest);
  if (wrong >= 0) {
    throw new TypeError(
      `${title}: value ${wrong + 1} of ${values.length} must be a string with ${fewest} to ${longest} characters`,
    );
  }
}

/** Waits until no part of a recording has arrived for `quietMs`; returns how long that took at most. */
async function untilQuiet({ tenant }: MatcherCall, { quietMs, timeoutMs }: Required<RecordingTimes>): Promise<number> {
  const start = performance.now();
  const end = start + timeoutMs;
  for (;;) {
    const rest = Math.ceil(Math.min(quietMs, end - performance.now()));
    if (rest <= 0) break;
    if (!(await tenant.recordings.grows(await tenant.events.mark(), rest))) break;
  }
  // a part that is on its way
  await tenant.settle({ idleMs: 1, timeoutMs: inFlight }).catch((error: unknown) => {
    if (!(error instanceof ControlError && error.code === "wait_timeout")) throw error;
  });
  return performance.now() - start;
}

type RecordingTimes = Pick<RecordedOptions, "quietMs" | "timeoutMs">;

function timesOf({ tenant }: MatcherCall, { quietMs = defaultQuiet, timeoutMs }: RecordingTimes) {
  const longest = Math.max(timeoutMs ?? quietMs + patience, quietMs);
  return { quietMs, timeoutMs: assertionsOf(tenant).within(longest) };
}

const recordingHints = [
  "is the recorder on? `remote_config: { sessionRecording: true }` in the scenario, and no `disable_session_recording` in posthog.init()",
  "has the recorder started, and sent something? `await expect(ph).toHaveRecorded()` waits for it",
];

const sessionLine = ({ id, recording, url }: StoredSession): string =>
  `  session ${id}: ${counted(recording?.parts ?? 0, "part")}${url === null ? "" : `, from ${url}`}`;

const within = (sessions: readonly StoredSession[], wanted: string | undefined): StoredSession[] =>
  sessions.filter((it) => wanted === undefined || it.id === wanted);

export async function recorded(call: MatcherCall, options: RecordedOptions = {}): Promise<MatcherOutcome> {
  const { tenant, isNot } = call;
  const look = async () => within(await tenant.recordings.list(), options.session);
  const limits = timesOf(call, options);
  let sessions = await look();
  if (isNot && sessions.length === 0) {
    await untilQuiet(call, limits);
    sessions = await look();
  }
  const end = performance.now() + (isNot ? 0 : assertionsOf(tenant).within(options.timeoutMs));
  while (sessions.length === 0) {
    const since = await tenant.events.mark();
    sessions = await look();
    const rest = Math.ceil(end - performance.now());
    if (sessions.length > 0 || rest <= 0) break;
    await tenant.recordings.grows(since, rest);
  }
  if (sessions.length > 0)
    return { pass: true, text: messageOf(call, "recorded:", ...limited(sessions.map(sessionLine), "session")) };
  const causes = await causesOr(call, ...recordingHints);
  return { pass: false, text: messageOf(call, "there is no recording", ...hintLines(causes)) };
}

const hintLines = (hints: readonly string[]): string[] => hints.map((it) => `  ${it}`);

/** As it is written there, if not as it was given. */
const asWritten: Readonly<Record<RecordingFind["writing"], string>> = {
  text: "",
  digits: ", with other separators",
  encoded: ", escaped",
};

function findLines(findings: RecordingFindings, total: number, url: string): string[] {
  const lines = findings.finds.map((it) => {
    const where = [it.place, it.path, it.name].filter((part) => part !== null).join(" ");
    const at = `${it.time.slice(11, 23)} in session ${it.session}`;
    return `  value ${it.value} of ${total}: ${where}${asWritten[it.writing]}${times(it.count)}, ${at}\n    ${url}${it.link}`;
  });
  return limited(lines, "place");
}

const unreadLine = ({ unread }: RecordingFindings): string[] => {
  const parts = Object.entries(unread).map(([what, count]) => `${what} ${count}`);
  return parts.length === 0 ? [] : [`  not readable as text: ${parts.join(", ")}`];
};

const searchedLine = ({ searched: it }: RecordingFindings): string =>
  `  searched: ${counted(it.sessions, "session")}, ${counted(it.parts, "part")}, ${counted(it.events, "record")}`;

/** None of the values is in a recording: there is one, it was read whole, and its recorder has sent what it had. */
export async function recordedNoneOf(
  call: MatcherCall,
  values: readonly string[],
  options: RecordedOptions = {},
): Promise<MatcherOutcome> {
  const { tenant, isNot, title } = call;
  checkValues(title, values);
  const limits = timesOf(call, options);
  const found = (findings: RecordingFindings): MatcherOutcome => ({
    pass: false,
    text: messageOf(
      call,
      "a recording holds what it must not:",
      ...findLines(findings, values.length, tenant.url),
      searchedLine(findings),
      ...unreadLine(findings),
    ),
  });
  /** A failure for either polarity: nothing is known. */
  const undecided = (...lines: readonly string[]): MatcherOutcome => ({ pass: isNot, text: messageOf(call, ...lines) });

  const search = () => searchNow(call, values, options);
  const early = await search();
  if (early && early.finds.length > 0) return found(early);
  const waited = await untilQuiet(call, limits);
  const findings = await search();
  if (!findings || findings.searched.parts === 0)
    return undecided(
      "there is no recording, so that nothing is known about it",
      ...hintLines(await causesOr(call, ...recordingHints)),
    );
  if (findings.finds.length > 0) return found(findings);
  if (Math.ceil(waited) < limits.quietMs) {
    return undecided(
      `the test's limit left ${Math.floor(waited)} ms, and the recorder sends after 2,000 ms`,
      `  give the test more time, or less with \`quietMs\` (here ${limits.quietMs}) if the page is closed`,
    );
  }
  if (findings.verdict === "undecided") {
    const isUnread = findings.missing.length === 0 && Object.keys(findings.unread).length > 0;
    return undecided(
      "not everything of the recording can be read, so that nothing is known about it:",
      ...limited(hintLines(findings.undecided), "reason"),
      searchedLine(findings),
      ...(isUnread
        ? ['  if it cannot hold a value, such as an image that is part of the app: `allowUnread: ["image"]`']
        : []),
    );
  }
  const text = messageOf(call, "no recording has any of them", searchedLine(findings), ...unreadLine(findings));
  return { pass: true, text };
}

async function searchNow(
  { tenant }: MatcherCall,
  values: readonly string[],
  { session, allowUnread }: RecordedOptions,
): Promise<RecordingFindings | undefined> {
  try {
    return await tenant.recordings.search(values, { session, allowUnread });
  } catch (error) {
    if (error instanceof ControlError && error.code === "not_found") return undefined;
    throw error;
  }
}
