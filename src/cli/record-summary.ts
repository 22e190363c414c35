import type { RecordingFacts } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { sizeText } from "./progress.ts";
import type { Style } from "./style.ts";

/** Kinds of differences that are told; the rest is counted. */
const most = 20;

type Differences = NonNullable<RecordingFacts["differences"]>;

function differenceLines({ compared, differing, groups }: Differences, style: Style): string[] {
  const lines = groups.slice(0, most).map((it) => {
    const severity = it.severity === "break" ? style.bad(it.severity) : it.severity;
    const seen = `${clean(it.recorded, 60)} → ${clean(it.own, 60)}`;
    return `  ${severity} ${clean(it.route, 80)} ${clean(it.path, 120)}: ${it.detail} (${seen}) ×${it.count} of ${it.of}`;
  });
  const more = groups.length > most ? [`  … and ${groups.length - most} more kinds of differences`] : [];
  return [
    `phx-sim: the emulator differs in ${differing} of ${counted(compared, "answer")}`,
    ...lines,
    ...more,
  ];
}

const silence =
  "  nothing reached it: does the app send to this address, with a project key of the upstream?";

/** The summary of a recording on a terminal. */
export function recordingLines(facts: RecordingFacts, style: Style): string[] {
  const { passed, aborted, failed, bytes_sent, bytes_received, tape, taped, redacted, differences } = facts;
  const mishaps = [
    ...(aborted > 0 ? [`${aborted} cut off`] : []),
    ...(failed > 0 ? [style.bad(`${failed} without an answer`)] : []),
  ];
  const sizes = `${sizeText(bytes_sent)} out, ${sizeText(bytes_received)} back`;
  const passing = [`${counted(passed, "request")} passed on`, ...mishaps, sizes].join(", ");
  const taping =
    tape === null
      ? []
      : [
          `phx-sim: ${counted(taped, "exchange")} on ${clean(tape, 1000)}, ${counted(redacted, "secret")} taken out`,
        ];
  return [
    `phx-sim: ${passing}`,
    ...(passed === 0 && facts.mode !== "spy" ? [silence] : []),
    ...taping,
    ...(differences ? differenceLines(differences, style) : []),
    ...(facts.trouble === null ? [] : [`phx-sim: ${style.bad(troubleText(facts))}: ${clean(facts.trouble)}`]),
  ];
}

const troubleText = ({ mode }: RecordingFacts): string =>
  mode === "all" ? "the tape was not replaced" : "the tape is not whole";

/** Why the command fails though it did what it could. */
export function recordingEnd(facts: RecordingFacts): Failure | undefined {
  const { trouble, failed, passed, last_failure } = facts;
  if (failed > 0 && failed === passed)
    return new Failure("network", `no request was answered: ${clean(last_failure ?? "")}`);
  if (trouble !== null) return new Failure("failed", `${troubleText(facts)}: ${clean(trouble)}`);
  return undefined;
}
