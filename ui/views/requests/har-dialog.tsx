import { useState } from "preact/hooks";
import { download } from "../../api/call.ts";
import { project } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Button, Field, Trouble } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/fields.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { harName, harPath, mostEntries } from "./copies.ts";

/** @throws Error for what is no number of a request */
function numberIn(text: string): number | undefined {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`"${plain(text, 40)}" is not the number of a request`);
}

/** Selects requests and downloads them as HAR. */
export function HarDialog({ filter, onClose }: { filter: string; onClose: () => void }) {
  const [isFiltered, setFiltered] = useState(filter !== "");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState<Error | undefined>(undefined);
  const save = async () => {
    try {
      const wanted = {
        filter: isFiltered ? filter : undefined,
        project: project.value,
        from: numberIn(from),
        to: numberIn(to),
      };
      await download(harPath(wanted), harName(wanted));
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return (
    <Dialog
      title="Download as HAR"
      onClose={onClose}
      actions={
        <Button kind="main" onClick={save}>
          Download
        </Button>
      }
    >
      <div class="dialog-form">
        <p class="muted">
          HAR 1.2, for DevTools, Playwright and similar tools. Secrets are masked. Of more than{" "}
          {numberText(mostEntries)} requests, the newest are taken.
        </p>
        {project.value !== undefined && <p>Only requests of {plain(projectName(project.value), 80)}.</p>}
        {filter !== "" && (
          <Field label={`Only requests that match the filter ${plain(filter, 120)}`} isInline>
            <input
              type="checkbox"
              checked={isFiltered}
              onChange={(event) => setFiltered(event.currentTarget.checked)}
            />
          </Field>
        )}
        <div class="requests-range">
          <TextField
            label="From number"
            inputMode="numeric"
            value={from}
            placeholder="first"
            onText={setFrom}
          />
          <TextField label="To number" inputMode="numeric" value={to} placeholder="last" onText={setTo} />
        </div>
        {problem && <Trouble problem={problem} />}
      </div>
    </Dialog>
  );
}
