import { useState } from "preact/hooks";
import type { LoadedTape, LoadedTapeReply, RecordingFacts } from "../../../src/lab/tapes/shapes.ts";
import { call } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, route } from "../../app/location.ts";
import { info, revision } from "../../app/sim.ts";
import { greetings, stat } from "../../feed/socket.ts";
import { Badge, Button, Code, CopyButton, Empty, Section, Trouble } from "../../parts/basics.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Tabs } from "../../parts/layout.tsx";
import { LoadDialog, RecordDialog } from "./dialogs.tsx";
import { ExchangeList } from "./exchanges.tsx";
import { InForce } from "./in-force.tsx";
import { type ModeName, modeNames, modeNow, modes } from "./modes.ts";
import { RecordingPart } from "./recording.tsx";

type Asked =
  | { readonly is: "record"; readonly mode: NonNullable<RecordingFacts["mode"]> }
  | { readonly is: "load" | "rewind" | "unload" | "stop" };

/** Changes when anything in this view may have changed. */
const changes = (): string => {
  const { tape, recording } = stat.value ?? {};
  return [revision.value, tape?.name, tape?.mode, tape?.hits, recording?.mode].join("/");
};

/** Changes with the usage of the tape, but not with every request. */
const uses = (): string => {
  const { name, hits } = stat.value?.tape ?? {};
  return [greetings.value, name, hits].join("/");
};

/** The source of responses, usage of the tape, and the recording. */
export function TapesView() {
  const now = changes();
  const tapes = useResource<LoadedTapeReply>("tapes", { revision: now });
  const recording = useResource<RecordingFacts>("recording", { revision: now });
  const [asked, ask] = useState<Asked>();
  const problem = tapes.problem ?? recording.problem;
  const trouble = problem && <Trouble problem={problem} />;
  if (!tapes.data || !recording.data) return trouble ?? null;
  const { tape } = tapes.data;
  const tab = route.value.path[0] === "exchanges" ? "exchanges" : "now";
  return (
    <div class="tapes">
      <Tabs
        label="Tapes"
        current={tab}
        tabs={[
          { id: "now", title: "Now", href: link("tapes") },
          { id: "exchanges", title: "On the tape", href: link("tapes", ["exchanges"]), count: tape?.ledger.total },
        ]}
      />
      {trouble}
      <div class={tab === "exchanges" && tape ? "tapes-fill" : "tapes-body"}>
        {tab === "now" && <Now tape={tape} recording={recording.data} ask={ask} />}
        {tab === "exchanges" && (tape ? <ExchangeList revision={uses()} /> : <NoTape />)}
      </div>
      {asked && (
        <Question
          asked={asked}
          tape={tape}
          isRecording={recording.data.state === "recording"}
          onDone={() => {
            tapes.reload();
            recording.reload();
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </div>
  );
}

interface NowProps {
  tape: LoadedTape | null;
  recording: RecordingFacts;
  ask(asked: Asked): void;
}

function Now({ tape, recording, ask }: NowProps) {
  const mode = modeNow(tape, recording);
  return (
    <>
      <Section
        title={`Mode: ${mode}`}
        actions={
          <span class="row">
            <Button onClick={() => ask({ is: "load" })}>Load a tape</Button>
            {recording.state !== "recording" && (
              <Button onClick={() => ask({ is: "record", mode: "record" })}>Record</Button>
            )}
          </span>
        }
      >
        <p>{modes[mode].means}</p>
      </Section>
      {recording.state === "recording" && <RecordingPart recording={recording} onStop={() => ask({ is: "stop" })} />}
      {tape && <InForce tape={tape} onRewind={() => ask({ is: "rewind" })} onUnload={() => ask({ is: "unload" })} />}
      {mode === "emulate" && recording.state === "off" && <HowTo />}
      {recording.state === "stopped" && <RecordingPart recording={recording} onStop={() => {}} />}
      <ModeTable now={mode} isRecording={recording.state === "recording"} ask={ask} />
    </>
  );
}

/** The dialog that switches to a mode; undefined for modes that can only be set at start. */
function wayTo(mode: ModeName): Asked | undefined {
  if (mode === "once" || mode === "new") return undefined;
  if (mode === "emulate") return { is: "unload" };
  return mode === "replay" ? { is: "load" } : { is: "record", mode };
}

interface QuestionProps {
  asked: Asked;
  tape: LoadedTape | null;
  isRecording: boolean;
  onDone(): void;
  onClose(): void;
}

function Question({ asked, tape, isRecording, onDone, onClose }: QuestionProps) {
  const done = { onDone, onClose };
  if (asked.is === "load") return <LoadDialog isRecording={isRecording} {...done} />;
  if (asked.is === "record") return <RecordDialog mode={asked.mode} {...done} />;
  const { title, does, text, steps } = confirmations[asked.is](tape);
  const act = async () => {
    for (const [method, path, body] of steps) await call(method, path, body);
    onDone();
  };
  return (
    <ConfirmDialog title={title} does={does} act={act} onClose={onClose}>
      <p>{text}</p>
    </ConfirmDialog>
  );
}

interface Confirmation {
  readonly title: string;
  readonly does: string;
  readonly text: string;
  /** Calls of the control API. */
  readonly steps: readonly (readonly [method: string, path: string, body?: unknown])[];
}

const stop = ["POST", "recording/stop", {}] as const;

const confirmations: Readonly<Record<"stop" | "rewind" | "unload", (tape: LoadedTape | null) => Confirmation>> = {
  stop: (tape) => ({
    title: "Stop recording",
    does: "Stop",
    text: `The tape is closed. Responses then come from ${tape ? "the loaded tape" : "the emulator"}.`,
    steps: [stop],
  }),
  rewind: () => ({
    title: "Rewind the tape",
    does: "Rewind",
    text: "All clients get the tape's first responses again, and the counts are reset.",
    steps: [["POST", "tapes/rewind", {}]],
  }),
  unload: (tape) => ({
    title: "Back to the emulator",
    does: "Emulate",
    text: "This unloads the tape and stops the recording, if any. Responses then come from the emulator.",
    // stopping without a recording is harmless
    steps: [stop, ...(tape ? [["DELETE", "tapes"] as const] : [])],
  }),
};

function HowTo() {
  const url = info.value?.url ?? location.origin;
  return (
    <Section title="Record once, replay in every test">
      <div class="stack stack-wide tapes-howto">
        <p>
          A tape contains responses of the real service, without secrets. Record one while your app runs, with its host
          set to {url}; then replay it, offline.
        </p>
        <Code
          label="Terminal"
          text={"phx-sim record --upstream us --tape checkout -- npm test\nphx-sim replay checkout -- npm test"}
        />
      </div>
    </Section>
  );
}

function NoTape() {
  return (
    <Empty title="No tape is loaded">
      <p>
        Load one to see its exchanges. <a href={link("tapes")}>Show the current mode</a>
      </p>
    </Empty>
  );
}

interface ModeTableProps {
  now: ModeName;
  /** Only one recording can run at a time. */
  isRecording: boolean;
  ask(asked: Asked): void;
}

/** Every mode: the source of its responses, and the command to start it. */
function ModeTable({ now, isRecording, ask }: ModeTableProps) {
  const switchTo = (name: ModeName) => {
    const way = name === now ? undefined : wayTo(name);
    if (!way || (way.is === "record" && isRecording)) return null;
    return (
      <Button onClick={() => ask(way)} aria-label={`Switch to ${name}`}>
        Switch
      </Button>
    );
  };
  return (
    <Section title="Modes">
      <ul class="tapes-modes">
        {modeNames.map((name) => (
          <li key={name} class={name === now ? "tapes-now" : ""}>
            <span class="tapes-mode">{name === now ? <Badge tone="accent">{name}</Badge> : name}</span>
            <span class="tapes-means">{modes[name].means}</span>
            <code class="tapes-command">{modes[name].command}</code>
            <span class="tapes-switch">
              <CopyButton text={modes[name].command} kind="quiet" />
              {switchTo(name)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
