import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { Field } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";
import { TextInput } from "../../parts/text-input.tsx";
import { Ask } from "./ask.tsx";
import { modes } from "./modes.ts";
import { emptyLoad, type LoadForm, loadOrder } from "./order.ts";
import type { TapeFiles } from "./shape.ts";

interface LoadDialogProps {
  /** The mode it opens with. */
  mode?: string;
  /** Then the upstream goes on answering until that is stopped. */
  isRecording: boolean;
  onDone(): void;
  onClose(): void;
}

/** Puts a tape in force. */
export function LoadDialog({ mode = "replay", isRecording, onDone, onClose }: LoadDialogProps) {
  const [form, setForm] = useState<LoadForm>({ ...emptyLoad, mode });
  const { data } = useResource<TapeFiles>("tapes/files");
  const put = (change: Partial<LoadForm>) => setForm((it) => ({ ...it, ...change }));
  const facts = form.mode === "hybrid" ? modes.hybrid : modes.replay;
  return (
    <Ask
      title="Load a tape"
      does="Load"
      isReady={form.tape.trim() !== ""}
      act={async () => {
        await call("POST", "tapes", loadOrder(form));
        onDone();
      }}
      onClose={onClose}
    >
      <p class="muted">
        {isRecording ? "Once the recording is stopped" : "From now on"}, answers come from the tape. Events
        are still taken by the emulator.
      </p>
      <Field label="Tape" hint={filesHint(data)}>
        <TextInput
          list="tapes-files"
          value={form.tape}
          placeholder="a name in tapes/, or a path"
          onText={(text) => put({ tape: text })}
        />
      </Field>
      <datalist id="tapes-files">
        {data?.tapes.map((it) => (
          <option key={it.name} value={it.name}>
            {it.problem ?? counted(it.exchanges, "exchange")}
          </option>
        ))}
      </datalist>
      <div class="tapes-fields">
        <Field label="Mode">
          <select
            class="select"
            value={form.mode}
            onChange={(event) => put({ mode: event.currentTarget.value })}
          >
            <option value="replay">replay</option>
            <option value="hybrid">hybrid</option>
          </select>
        </Field>
        <Field label="What is not on it">
          <select
            class="select"
            value={form.onMiss}
            onChange={(event) => put({ onMiss: event.currentTarget.value })}
          >
            <option value="">as the mode says</option>
            <option value="fail">is an error</option>
            <option value="emulate">the emulator answers</option>
            <option value="upstream">goes to the real service</option>
          </select>
        </Field>
        <Field label="Answers take">
          <TextInput
            value={form.timing}
            placeholder="none, recorded, scale:0.5, max:2000"
            onText={(text) => put({ timing: text })}
          />
        </Field>
      </div>
      <p class="muted">{facts.means}</p>
    </Ask>
  );
}

function filesHint(data: TapeFiles | undefined): string {
  if (!data) return "";
  if (data.tapes.length === 0) return `There are none in ${plain(data.folder)} yet.`;
  const names = data.tapes.slice(0, 8).map((it) => plain(it.name, 60));
  return `In ${plain(data.folder)}: ${names.join(", ")}${data.tapes.length > 8 ? " …" : ""}`;
}
