import type { RecordingFacts } from "../../../src/lab/tapes/shapes.ts";
import { Badge, Button, Facts, Section, Tiles, Time } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { severityNotes, severityTones } from "./modes.ts";

const redactions = new Map([
  ["default", "secrets"],
  ["pii", "secrets and personal data"],
]);

const failure = (text: string | null) => (text === null ? undefined : <Badge tone="bad">{plain(text, 300)}</Badge>);

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
        <Tiles
          rows={[
            { label: "forwarded", count: recording.passed },
            { label: "taped", count: recording.taped, tone: "good" },
            { label: "secrets removed", count: recording.redacted },
            { label: "in progress", count: recording.in_flight },
            { label: "failed", count: recording.failed, tone: "bad" },
            { label: "cut off", count: recording.aborted, tone: "odd" },
          ]}
        />
        <Facts
          rows={{
            Upstream: plain(recording.upstream ?? "none", 300),
            Tape: <span class="mono">{plain(recording.tape ?? "none", 500)}</span>,
            Since: recording.started_at === null ? undefined : <Time at={recording.started_at} isWhole />,
            Removed: redaction === null ? undefined : (redactions.get(redaction) ?? plain(redaction)),
            Bodies: `${sizeText(recording.bytes_sent)} sent, ${sizeText(recording.bytes_received)} received`,
            "Last failure": failure(recording.last_failure),
            Trouble: failure(recording.trouble),
          }}
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
        <Table columns={["Severity", "Where", "Upstream", "Emulator", ["Responses", "number"]]}>
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
