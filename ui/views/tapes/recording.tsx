import type { RecordingFacts } from "../../../src/tapes/shapes.ts";
import { Badge, Button, Facts, Section, Time } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { Numbers } from "./in-force.tsx";
import { severityNotes, severityTones } from "./modes.ts";

const redactions: Readonly<Record<string, string>> = {
  default: "secrets",
  pii: "secrets and personal data",
};

/** The running or last recording. */
export function RecordingPart({ recording, onStop }: { recording: RecordingFacts; onStop: () => void }) {
  const isRunning = recording.state === "recording";
  const { redaction } = recording;
  return (
    <>
      <Section
        title={
          <>
            {isRunning ? "Recording" : "Last recording"}{" "}
            {isRunning && (
              <Badge tone="bad" isMarked={false}>
                {recording.mode}
              </Badge>
            )}
          </>
        }
        actions={isRunning && <Button onClick={onStop}>Stop</Button>}
      >
        <Numbers
          counts={[
            { label: "forwarded", value: recording.passed },
            { label: "taped", value: recording.taped, tone: "good" },
            { label: "secrets removed", value: recording.redacted },
            { label: "in progress", value: recording.in_flight },
            { label: "failed", value: recording.failed, tone: "bad" },
            { label: "cut off", value: recording.aborted, tone: "odd" },
          ]}
        />
        <Facts
          rows={[
            ["Upstream", plain(recording.upstream ?? "none", 300)],
            [
              "Tape",
              <span key="tape" class="mono">
                {plain(recording.tape ?? "none", 500)}
              </span>,
            ],
            recording.started_at === null
              ? undefined
              : ["Since", <Time key="at" at={Date.parse(recording.started_at)} isWhole />],
            redaction === null
              ? undefined
              : ["Removed", Object.hasOwn(redactions, redaction) ? redactions[redaction] : plain(redaction)],
            [
              "Bodies",
              `${sizeText(recording.bytes_sent)} sent, ${sizeText(recording.bytes_received)} received`,
            ],
            recording.last_failure === null
              ? undefined
              : [
                  "Last failure",
                  <Badge key="failure" tone="bad">
                    {plain(recording.last_failure, 300)}
                  </Badge>,
                ],
            recording.trouble === null
              ? undefined
              : [
                  "Trouble",
                  <Badge key="trouble" tone="bad">
                    {plain(recording.trouble, 300)}
                  </Badge>,
                ],
          ]}
        />
      </Section>
      {recording.differences && <DifferencesPart differences={recording.differences} />}
    </>
  );
}

const most = 200;

/** Differences between the emulator's and the upstream's responses. */
function DifferencesPart({
  differences: { compared, differing, groups },
}: {
  differences: NonNullable<RecordingFacts["differences"]>;
}) {
  return (
    <Section title="Where the emulator differs">
      <p class="muted">
        {numberText(differing)} of {numberText(compared)} responses differ.
      </p>
      {groups.length > 0 && (
        <Table columns={["Severity", "Where", "Upstream", "Emulator", ["Answers", "number"]]}>
          {groups.slice(0, most).map((it) => (
            <tr key={`${it.route} ${it.severity} ${it.kind} ${it.path}`}>
              <td>
                <Badge tone={severityTones[it.severity]} title={severityNotes[it.severity]}>
                  {it.severity}
                </Badge>
              </td>
              <td>
                <code>{plain(it.path, 300)}</code> <span class="muted">{plain(it.route, 120)}</span>
                {it.detail !== undefined && <div class="muted">{plain(it.detail, 300)}</div>}
              </td>
              <td>
                <code>{plain(it.recorded ?? "", 300)}</code>
              </td>
              <td>
                <code>{plain(it.own ?? "", 300)}</code>
              </td>
              <td class="number">
                {numberText(it.count)} of {numberText(it.of)}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
