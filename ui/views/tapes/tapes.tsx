import { useState } from "preact/hooks";
import type { LoadedTape, LoadedTapeReply, RecordingFacts } from "../../../src/tapes/shapes.ts";
import { call } from "../../api/call.ts";
import { type Resource, useResource } from "../../api/resource.ts";
import { link, route } from "../../app/location.ts";
import { info, revision } from "../../app/sim.ts";
import { greetings, stat } from "../../feed/socket.ts";
import { Badge, Button, Code, CopyButton, Empty, Section, Trouble } from "../../parts/basics.tsx";
import { Tabs } from "../../parts/layout.tsx";
import { ConfirmDialog, LoadDialog, RecordDialog } from "./dialogs.tsx";
import { ExchangeList } from "./exchanges.tsx";
import { InForce } from "./in-force.tsx";
import { type ModeName, modeNames, modeNow, modes } from "./modes.ts";
import { RecordingPart } from "./recording.tsx";

/** The open dialog. */
type Asked =
  | { readonly is: "load"; readonly mode: string }
  | { readonly is: "record"; readonly mode: NonNullable<RecordingFacts["mode"]> }
  | { readonly is: "rewind" | "unload" | "stop" };

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

/** What answers requests, usage of the tape, and the recording. */
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
          {
            id: "exchanges",
            title: "On the tape",
            href: link("tapes", ["exchanges"]),
            count: tape?.ledger.total,
          },
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
          onDone={() => reload(tapes, recording)}
          onClose={() => ask(undefined)}
        />
      )}
    </div>
  );
}

function reload(...resources: readonly Pick<Resource<unknown>, "reload">[]): void {
  for (const it of resources) it.reload();
}

interface NowProps {
  tape: LoadedTape | null;
  recording: RecordingFacts;
  ask(asked: Asked): void;
}

function Now({ tape, recording, ask }: NowProps) {
  const mode = modeNow(tape, recording);
  const change = (to: ModeName) => ask(wayTo(to));
  return (
    <>
      <Section
        title={`Mode: ${mode}`}
        actions={
          <span class="tapes-actions">
            <Button onClick={() => ask({ is: "load", mode: "replay" })}>Load a tape</Button>
            {recording.state !== "recording" && (
              <Button onClick={() => ask({ is: "record", mode: "record" })}>Record</Button>
            )}
          </span>
        }
      >
        <p>{modes[mode].means}</p>
      </Section>
      {recording.state === "recording" && (
        <RecordingPart recording={recording} onStop={() => ask({ is: "stop" })} />
      )}
      {tape && (
        <InForce tape={tape} onRewind={() => ask({ is: "rewind" })} onUnload={() => ask({ is: "unload" })} />
      )}
      {mode === "emulate" && recording.state === "off" && <HowTo />}
      {recording.state === "stopped" && <RecordingPart recording={recording} onStop={() => {}} />}
      <ModeTable now={mode} isRecording={recording.state === "recording"} onSwitch={change} />
    </>
  );
}

/** The dialog that switches to a mode. */
function wayTo(mode: ModeName): Asked {
  if (mode === "record" || mode === "all" || mode === "spy" || mode === "diff") return { is: "record", mode };
  return mode === "emulate" ? { is: "unload" } : { is: "load", mode };
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
  if (asked.is === "load") return <LoadDialog mode={asked.mode} isRecording={isRecording} {...done} />;
  if (asked.is === "record") return <RecordDialog mode={asked.mode} {...done} />;
  if (asked.is === "stop")
    return (
      <ConfirmDialog
        title="Stop recording"
        does="Stop"
        act={then(onDone, ["POST", "recording/stop", {}])}
        onClose={onClose}
      >
        <p>The tape is closed. From then on, {tape ? "the loaded tape" : "the emulator"} answers again.</p>
      </ConfirmDialog>
    );
  if (asked.is === "rewind")
    return (
      <ConfirmDialog
        title="Rewind the tape"
        does="Rewind"
        act={then(onDone, ["POST", "tapes/rewind", {}])}
        onClose={onClose}
      >
        <p>All clients get the tape's first responses again, and the counts are reset.</p>
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog
      title="Back to the emulator"
      does="Emulate"
      act={then(onDone, ...offSteps(tape))}
      onClose={onClose}
    >
      <p>Recorded answers end, and so does a recording. The emulator answers from the emulated world.</p>
    </ConfirmDialog>
  );
}

type Step = readonly [method: string, path: string, body?: unknown];

/** Calls that switch back to the emulator; stopping an idle recording is harmless. */
const offSteps = (tape: LoadedTape | null): readonly Step[] => [
  ["POST", "recording/stop", {}],
  ...(tape ? [["DELETE", "tapes"] as const] : []),
];

const then =
  (onDone: () => void, ...steps: readonly Step[]) =>
  async (): Promise<void> => {
    for (const [method, path, body] of steps) await call(method, path, body);
    onDone();
  };

function HowTo() {
  const url = info.value?.url ?? location.origin;
  return (
    <Section title="Record once, replay in every test">
      <div class="tapes-howto">
        <p>
          A tape contains responses of the real service, without secrets. Record one while your app runs, with
          its host set to {url}; then answer from it, offline.
        </p>
        <Code
          label="Terminal"
          text={
            "phx-sim record --upstream us --tape checkout -- npm test\nphx-sim replay checkout -- npm test"
          }
        />
      </div>
    </Section>
  );
}

function NoTape() {
  return (
    <Empty title="No tape is loaded">
      <p>
        Load one to see its exchanges. <a href={link("tapes")}>Who answers now</a>
      </p>
    </Empty>
  );
}

interface ModeTableProps {
  now: ModeName;
  /** Only one recording can run at a time. */
  isRecording: boolean;
  onSwitch(mode: ModeName): void;
}

/** Every mode: what answers, and the command to start it. */
export function ModeTable({ now, isRecording, onSwitch }: ModeTableProps) {
  const canSwitch = (name: ModeName): boolean => {
    const { here } = modes[name];
    return here !== undefined && !(here === "record" && isRecording);
  };
  return (
    <Section title="Who answers">
      <ul class="tapes-modes">
        {modeNames.map((name) => (
          <li key={name} class={name === now ? "tapes-now" : ""}>
            <span class="tapes-mode">{name === now ? <Badge tone="accent">{name}</Badge> : name}</span>
            <span class="tapes-means">{modes[name].means}</span>
            <code class="tapes-command">{modes[name].command}</code>
            <span class="tapes-switch">
              <CopyButton text={modes[name].command} kind="quiet" />
              {name !== now && canSwitch(name) && (
                <Button onClick={() => onSwitch(name)} aria-label={`Switch to ${name}`}>
                  Switch
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
