import type { RecordingFacts } from "../../../src/lab/tapes/shapes.ts";
import { Badge, Button, Facts, Section, Tiles, Time } from "../../parts/basics.tsx";
import { plain, sizeText } from "../../parts/text.ts";

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
  );
}
