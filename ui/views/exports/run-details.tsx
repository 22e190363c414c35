import { useState } from "preact/hooks";
import type { ExportRunWithLogs } from "../../../src/exports/shapes.ts";
import { call, download, problemOf, type SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { Badge, Button, Code, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { ends, statusRow } from "./run-texts.ts";

interface Props {
  id: string;
  revision: string;
  onChanged(problem?: SimProblem): void;
}

/** Details of a run: outcome, log, files, and a form to script its end. */
export function RunDetails({ id, revision, onChanged }: Props) {
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
          rows={[
            [
              "Status",
              <Badge key="status" tone={row.tone} isMarked={false}>
                {row.mark} {run.status}
              </Badge>,
            ],
            run.latest_error === null ? undefined : ["Error", plain(run.latest_error, 10_000)],
            [
              "Data from",
              run.data_interval_start === null ? (
                "the beginning"
              ) : (
                <Time key="from" at={Date.parse(run.data_interval_start)} isExact />
              ),
            ],
            ["Data up to", <Time key="to" at={Date.parse(run.data_interval_end)} isExact />],
            ["Records", run.records_completed === null ? "–" : numberText(run.records_completed)],
            ["Size", run.bytes_exported === null ? "–" : sizeText(run.bytes_exported)],
            ["Made by", run.backfill === null ? "the schedule" : `backfill ${plain(run.backfill)}`],
            [
              "Finished",
              run.finished_at === null ? (
                "not yet"
              ) : (
                <Time key="end" at={Date.parse(run.finished_at)} isExact />
              ),
            ],
            [
              "Export",
              <a key="export" href={link("exports", [run.batch_export])}>
                {plain(run.batch_export)}
              </a>,
            ],
            ["Id", <code key="id">{plain(run.id)}</code>],
          ]}
        />
      </Section>
      {row.isOpen && <OutcomeForm id={run.id} onChanged={onChanged} />}
      <Files files={run.files} onProblem={onChanged} />
      <Log lines={run.logs} />
    </>
  );
}

function Files({
  files,
  onProblem,
}: {
  files: ExportRunWithLogs["files"];
  onProblem: (problem: SimProblem) => void;
}) {
  if (files.length === 0) return null;
  const save = async (url: string, name: string) => {
    try {
      await download(url.replace("/__sim/", ""), name.split("/").at(-1) ?? name);
    } catch (error) {
      onProblem(problemOf(error));
    }
  };
  return (
    <Section title="Files">
      <ul class="exports-files">
        {files.map(({ name, bytes, url }) => (
          <li key={name}>
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
        <ol class="exports-log">
          {lines.map((it, i) => (
            <li key={i}>
              <Time at={Date.parse(it.timestamp)} />
              <span class={/ERROR/i.test(it.level) ? "exports-error" : "muted"}>{it.level}</span>
              <span>{plain(it.message, 2_000)}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Scripts the end of a run, e.g. a failure. */
function OutcomeForm({ id, onChanged }: { id: string; onChanged: (problem?: SimProblem) => void }) {
  const [status, setStatus] = useState("Failed");
  const [after, setAfter] = useState("");
  const [error, setError] = useState("");
  const outcome = {
    status: status,
    ...(after.trim() !== "" && { after: after.trim() }),
    ...(error.trim() !== "" && { latest_error: error }),
  };
  const submit = async () => {
    try {
      await call("PUT", `exports/runs/${encodeURIComponent(id)}`, outcome);
      onChanged();
    } catch (failed) {
      onChanged(problemOf(failed));
    }
  };
  return (
    <Section title="Script the outcome">
      <form
        class="exports-script"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <SelectField label="Status" value={status} options={ends.map((it) => [it, it])} onText={setStatus} />
        <TextField label="After" placeholder="immediately" value={after} onText={setAfter} />
        <TextField label="Error" placeholder="none" value={error} onText={setError} />
        <Button type="submit">Set outcome</Button>
      </form>
      <Code label="The same over HTTP" text={`PUT /__sim/exports/runs/${id}\n${JSON.stringify(outcome)}`} />
    </Section>
  );
}
