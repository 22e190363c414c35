import { useState } from "preact/hooks";
import type { TapeFiles } from "../../../src/lab/tapes/shapes.ts";
import { call } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../parts/fields.tsx";
import { counted, plain } from "../../parts/text.ts";
import { modes } from "./modes.ts";
import { emptyLoad, emptyRecord, type LoadForm, loadOrder, type RecordForm, recordOrder } from "./order.ts";

interface LoadDialogProps {
  /** While recording, responses come from the upstream. */
  isRecording: boolean;
  onDone(): void;
  onClose(): void;
}

export function LoadDialog({ isRecording, onDone, onClose }: LoadDialogProps) {
  const [form, setForm] = useState<LoadForm>(emptyLoad);
  const { data } = useResource<TapeFiles>("tapes/files");
  const put = (change: Partial<LoadForm>) => setForm((it) => ({ ...it, ...change }));
  return (
    <ConfirmDialog
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
        {isRecording ? "Once the recording stops" : "From now on"}, responses come from the tape. Events are still
        accepted by the emulator.
      </p>
      <TextField
        label="Tape"
        hint={filesHint(data)}
        list="tapes-files"
        value={form.tape}
        placeholder="a name in tapes/, or a path"
        onText={(text) => put({ tape: text })}
      />
      <datalist id="tapes-files">
        {data?.tapes.map((it) => (
          <option key={it.name} value={it.name}>
            {it.problem ?? counted(it.exchanges, "exchange")}
          </option>
        ))}
      </datalist>
      <div class="fields">
        <SelectField
          label="Requests not on it"
          value={form.onMiss}
          options={[
            ["fail", "fail"],
            ["emulate", "go to the emulator"],
            ["upstream", "go to the real service"],
          ]}
          onText={(text) => put({ onMiss: text })}
        />
        <TextField
          label="Response time"
          value={form.timing}
          placeholder="none, recorded, scale:0.5, max:2000"
          onText={(text) => put({ timing: text })}
        />
      </div>
    </ConfirmDialog>
  );
}

function filesHint(data: TapeFiles | undefined): string {
  if (!data) return "";
  if (data.tapes.length === 0) return `There are no tapes in ${plain(data.folder)} yet.`;
  const names = data.tapes.slice(0, 8).map((it) => plain(it.name, 60));
  return `In ${plain(data.folder)}: ${names.join(", ")}${data.tapes.length > 8 ? " …" : ""}`;
}

const recordModes = ["record", "spy"] as const;

interface RecordDialogProps {
  mode?: RecordForm["mode"];
  onDone(): void;
  onClose(): void;
}

type Put = (change: Partial<RecordForm>) => void;

/** Starts a recording, with a warning that requests leave this machine. */
export function RecordDialog({ mode = "record", onDone, onClose }: RecordDialogProps) {
  const [form, setForm] = useState<RecordForm>({ ...emptyRecord, mode });
  const put: Put = (change) => setForm((it) => ({ ...it, ...change }));
  return (
    <ConfirmDialog
      title="Record"
      does="Start recording"
      isReady={form.upstream.trim() !== ""}
      act={async () => {
        await call("POST", "recording/start", recordOrder(form));
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        <b>Requests will reach the real service.</b> From now on, it also stores what your app sends.
      </p>
      <div class="fields">
        <TextField
          label="Upstream"
          value={form.upstream}
          list="tapes-upstreams"
          placeholder="us, eu, or an address"
          onText={(text) => put({ upstream: text })}
        />
        <datalist id="tapes-upstreams">
          <option value="us" />
          <option value="eu" />
        </datalist>
        <TextField
          label="Tape"
          value={form.tape}
          placeholder="a name (default: no tape)"
          onText={(text) => put({ tape: text })}
        />
      </div>
      <Choices form={form} put={put} />
      <p class="muted">{modes[form.mode].means}</p>
    </ConfirmDialog>
  );
}

function Choices({ form, put }: { form: RecordForm; put: Put }) {
  return (
    <>
      <div class="fields">
        <SelectField
          label="Mode"
          value={form.mode}
          options={recordModes}
          onText={(text) => put({ mode: recordModes.find((it) => it === text) ?? "record" })}
        />
        <SelectField
          label="Removed"
          value={form.redact}
          options={[
            ["default", "secrets"],
            ["pii", "secrets and personal data"],
          ]}
          onText={(text) => put({ redact: text })}
        />
      </div>
      <div class="fields">
        <TextField
          label="Only these paths"
          value={form.include}
          placeholder="/flags/** /api/**"
          onText={(text) => put({ include: text })}
        />
        <TextField
          label="Not these paths"
          value={form.exclude}
          placeholder="*.js"
          onText={(text) => put({ exclude: text })}
        />
      </div>
      {form.mode === "spy" && (
        <CheckField
          label="Forward requests that change data"
          isChecked={form.allowWrites}
          onChange={(allowWrites) => put({ allowWrites })}
        />
      )}
    </>
  );
}
