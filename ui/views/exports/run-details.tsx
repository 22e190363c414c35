import { useSignal } from "@preact/signals";
import { call, problemOf, type SimProblem } from "../../api/call.ts";
import { download } from "../../api/download.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { Badge, Button, Code, Facts, Field, Section, Time, Trouble } from "../../parts/basics.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { TextInput } from "../../parts/text-input.tsx";
import type { RunWithLogs } from "./answers.ts";
import { ends, statusRow } from "./statuses.ts";

interface Props {
  id: string;
  revision: string;
  onChanged(problem?: SimProblem): void;
}

/** A run: what became of it, its log, its files; and how it is to end, as long as it has not. */
export function RunDetails({ id, revision, onChanged }: Props) {
  const path = `exports/runs/${encodeURIComponent(id)}`;
  const { data: run, problem } = useResource<RunWithLogs>(path, { revision, again: 2_000 });
  const trouble = problem && <Trouble problem={problem} />;
  // what is half written below stays when the sim did not answer once
  if (!run || problem?.status === 404) return trouble ?? null;
  const row = statusRow(run.status);
  return (
    <>
      {trouble}
      <Section title={`Run of ${plain(run.name ?? "an export that is gone")}`}>
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
      {row.isOpen && <Script id={run.id} onChanged={onChanged} />}
      <Files files={run.files} onProblem={onChanged} />
      <Log lines={run.logs} />
    </>
  );
}

function Files({
  files,
  onProblem,
}: {
  files: RunWithLogs["files"];
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

function Log({ lines }: { lines: RunWithLogs["logs"] }) {
  return (
    <Section title="Log">
      {lines.length === 0 ? (
        <p class="muted">No line yet.</p>
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

/** Says how the run ends: for an app that must cope with failures. */
function Script({ id, onChanged }: { id: string; onChanged: (problem?: SimProblem) => void }) {
  const status = useSignal("Failed");
  const after = useSignal("");
  const error = useSignal("");
  const outcome = {
    status: status.value,
    ...(after.value.trim() !== "" && { after: after.value.trim() }),
    ...(error.value.trim() !== "" && { latest_error: error.value }),
  };
  const say = async () => {
    try {
      await call("PUT", `exports/runs/${encodeURIComponent(id)}`, outcome);
      onChanged();
    } catch (failed) {
      onChanged(problemOf(failed));
    }
  };
  return (
    <Section title="Have it end otherwise">
      <form
        class="exports-script"
        onSubmit={(event) => {
          event.preventDefault();
          void say();
        }}
      >
        <Field label="Status">
          <select
            class="select"
            value={status.value}
            onChange={(event) => {
              status.value = event.currentTarget.value;
            }}
          >
            {ends.map((it) => (
              <option key={it}>{it}</option>
            ))}
          </select>
        </Field>
        <Field label="After">
          <TextInput
            placeholder="at once"
            value={after.value}
            onText={(text) => {
              after.value = text;
            }}
          />
        </Field>
        <Field label="Error">
          <TextInput
            placeholder="none"
            value={error.value}
            onText={(text) => {
              error.value = text;
            }}
          />
        </Field>
        <Button type="submit">Write it down</Button>
      </form>
      <Code label="The same by hand" text={`PUT /__sim/exports/runs/${id}\n${JSON.stringify(outcome)}`} />
    </Section>
  );
}
