import { useState } from "preact/hooks";
import type { ExportRunWithLogs } from "../../../src/service/batch-exports/shapes.ts";
import { call, download } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import type { Action } from "../../app/use-action.ts";
import { Badge, Button, Code, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { ends, statusRow } from "./run-texts.ts";

interface Props {
  id: string;
  revision: string;
  /** Waits for a change of the sim, shows its problem and reloads. */
  act: Action["run"];
}

export function RunDetails({ id, revision, act }: Props) {
  const path = `exports/runs/${encodeURIComponent(id)}`;
  const { data: run, problem } = useResource<ExportRunWithLogs>(path, { revision, again: 2_000 });
  const trouble = problem && <Trouble problem={problem} />;
  // the form below stays when a poll fails
  if (!run || problem?.status === 404) return trouble ?? null;
  const row = statusRow(run.status);
  return (
    <>
      {trouble}
      <Section title={`Run of ${plain(run.name ?? "a deleted export")}`}>
        <Facts
          rows={{
            Status: (
              <Badge tone={row.tone} mark={row.mark}>
                {run.status}
              </Badge>
            ),
            Error: run.latest_error === null ? undefined : plain(run.latest_error, 10_000),
            "Data from": timeOr("the beginning", run.data_interval_start),
            "Data up to": <Time at={run.data_interval_end} isExact />,
            Records: run.records_completed === null ? "–" : numberText(run.records_completed),
            Size: run.bytes_exported === null ? "–" : sizeText(run.bytes_exported),
            "Created by": run.backfill === null ? "the schedule" : `backfill ${plain(run.backfill)}`,
            Finished: timeOr("not yet", run.finished_at),
            Export: <a href={link("exports", [run.batch_export])}>{plain(run.batch_export)}</a>,
            Id: <code>{plain(run.id)}</code>,
          }}
        />
      </Section>
      {row.isOpen && <OutcomeForm id={run.id} act={act} />}
      <Files files={run.files} act={act} />
      <Log lines={run.logs} />
    </>
  );
}

const timeOr = (otherwise: string, at: string | null) => (at === null ? otherwise : <Time at={at} isExact />);

function Files({ files, act }: Pick<Props, "act"> & { files: ExportRunWithLogs["files"] }) {
  if (files.length === 0) return null;
  const save = (url: string, name: string) => act(download(url.replace("/__sim/", ""), name.split("/").at(-1) ?? name));
  return (
    <Section title="Files">
      <ul class="stack stack-tight">
        {files.map(({ name, bytes, url }) => (
          <li key={name} class="row">
            <code>{plain(name)}</code>
            <span class="muted">{sizeText(bytes)}</span>
            <Button onClick={() => save(url, name)} aria-label={`Download ${plain(name)}`}>
              Download
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Log({ lines }: { lines: ExportRunWithLogs["logs"] }) {
  return (
    <Section title="Log">
      {lines.length === 0 ? (
        <p class="muted">No log lines yet.</p>
      ) : (
        <ol class="stack stack-tight exports-log">
          {lines.map((it, i) => (
            <li key={i}>
              <Time at={it.timestamp} />
              <span class={/ERROR/i.test(it.level) ? "bad" : "muted"}>{it.level}</span>
              <span>{plain(it.message, 2_000)}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Scripts the end of a run, e.g. a failure. */
function OutcomeForm({ id, act }: Pick<Props, "id" | "act">) {
  const [status, setStatus] = useState("Failed");
  const [after, setAfter] = useState("");
  const [error, setError] = useState("");
  const outcome = {
    status,
    ...(after.trim() !== "" && { after: after.trim() }),
    ...(error.trim() !== "" && { latest_error: error }),
  };
  return (
    <Section title="Script the outcome">
      <form
        class="fields exports-script"
        onSubmit={(event) => {
          event.preventDefault();
          void act(call("PUT", `exports/runs/${encodeURIComponent(id)}`, outcome));
        }}
      >
        <SelectField label="Status" value={status} options={ends} onText={setStatus} />
        <TextField label="After" placeholder="immediately" value={after} onText={setAfter} />
        <TextField label="Error" placeholder="none" value={error} onText={setError} />
        <Button type="submit">Set outcome</Button>
      </form>
      <Code label="The same over HTTP" text={`PUT /__sim/exports/runs/${id}\n${JSON.stringify(outcome)}`} />
    </Section>
  );
}
