import { useState } from "preact/hooks";
import { download } from "../../api/download.ts";
import { project } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Button, Field, Trouble } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { TextInput } from "../../parts/text-input.tsx";
import { harName, harPath, mostEntries } from "./har-wish.ts";

/** @throws Error for what is no number of a request */
function numberIn(text: string): number | undefined {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`"${plain(text, 40)}" is not the number of a request`);
}

/** Asks which requests go into the HAR, and has it saved. */
export function HarDialog({ filter, onClose }: { filter: string; onClose: () => void }) {
  const [isFiltered, setFiltered] = useState(filter !== "");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState<Error | undefined>(undefined);
  const save = async () => {
    try {
      const wish = {
        filter: isFiltered ? filter : undefined,
        project: project.value,
        from: numberIn(from),
        to: numberIn(to),
      };
      await download(harPath(wish), harName(wish));
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
      <div class="requests-form">
        <p class="muted">
          HAR 1.2, for DevTools, Playwright and the like. Secrets are masked, as they are here. Of more than{" "}
          {numberText(mostEntries)} requests, the newest are taken.
        </p>
        {project.value !== undefined && <p>Only requests of {plain(projectName(project.value), 80)}.</p>}
        {filter !== "" && (
          <Field label={`Only what passes the filter ${plain(filter, 120)}`} isInline>
            <input
              type="checkbox"
              checked={isFiltered}
              onChange={(event) => setFiltered(event.currentTarget.checked)}
            />
          </Field>
        )}
        <div class="requests-range">
          <Field label="From number">
            <TextInput inputMode="numeric" value={from} placeholder="the first" onText={setFrom} />
          </Field>
          <Field label="To number">
            <TextInput inputMode="numeric" value={to} placeholder="the last" onText={setTo} />
          </Field>
        </div>
        {problem && <Trouble problem={problem} />}
      </div>
    </Dialog>
  );
}
