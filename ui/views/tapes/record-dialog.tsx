import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { Field } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { Ask } from "./ask.tsx";
import { modes } from "./modes.ts";
import { emptyRecord, type RecordForm, recordOrder } from "./order.ts";

const recordModes = ["record", "all", "spy", "diff"] as const;

interface RecordDialogProps {
  mode?: RecordForm["mode"];
  onDone(): void;
  onClose(): void;
}

type Put = (change: Partial<RecordForm>) => void;

/** Starts a recording: requests leave this machine, so it says so first. */
export function RecordDialog({ mode = "record", onDone, onClose }: RecordDialogProps) {
  const [form, setForm] = useState<RecordForm>({ ...emptyRecord, mode });
  const put: Put = (change) => setForm((it) => ({ ...it, ...change }));
  return (
    <Ask
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
        <b>Requests will reach the real service.</b> What your app sends from now on is stored there, too.
      </p>
      <Places form={form} put={put} />
      <Choices form={form} put={put} />
      <p class="muted">{modes[form.mode].means}</p>
    </Ask>
  );
}

function Places({ form, put }: { form: RecordForm; put: Put }) {
  return (
    <div class="tapes-fields">
      <Field label="Upstream">
        <TextInput
          value={form.upstream}
          list="tapes-upstreams"
          placeholder="us, eu, or an address"
          onText={(text) => put({ upstream: text })}
        />
        <datalist id="tapes-upstreams">
          <option value="us" />
          <option value="eu" />
        </datalist>
      </Field>
      <Field label="Tape">
        <TextInput
          value={form.tape}
          placeholder="a name; empty: none is written"
          onText={(text) => put({ tape: text })}
        />
      </Field>
    </div>
  );
}

function Choices({ form, put }: { form: RecordForm; put: Put }) {
  return (
    <>
      <div class="tapes-fields">
        <Field label="Mode">
          <select
            class="select"
            value={form.mode}
            onChange={(event) =>
              put({ mode: recordModes.find((it) => it === event.currentTarget.value) ?? "record" })
            }
          >
            {recordModes.map((it) => (
              <option key={it} value={it}>
                {it}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Taken out">
          <select
            class="select"
            value={form.redact}
            onChange={(event) => put({ redact: event.currentTarget.value })}
          >
            <option value="default">secrets</option>
            <option value="pii">secrets and personal data</option>
          </select>
        </Field>
      </div>
      <div class="tapes-fields">
        <Field label="Only these paths">
          <TextInput
            value={form.include}
            placeholder="/flags/** /api/**"
            onText={(text) => put({ include: text })}
          />
        </Field>
        <Field label="Not these paths">
          <TextInput value={form.exclude} placeholder="*.js" onText={(text) => put({ exclude: text })} />
        </Field>
      </div>
      {form.mode === "spy" && (
        <Field label="Requests that change something may go to the real service" isInline>
          <input
            type="checkbox"
            checked={form.allowWrites}
            onChange={(event) => put({ allowWrites: event.currentTarget.checked })}
          />
        </Field>
      )}
    </>
  );
}
