import { useState } from "preact/hooks";
import { download } from "../../api/call.ts";
import { project } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { projectName } from "../../app/sim.ts";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { CheckField, TextField } from "../../parts/fields.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { harName, harPath, mostEntries } from "./copies.ts";

/** @throws Error if the text is not the number of a request */
function requestIn(text: string): number | undefined {
  const n = numberIn(text.trim());
  if (n === undefined && text.trim() !== "") throw new Error(`"${plain(text, 40)}" is not the number of a request`);
  return n;
}

/** Selects requests and downloads them as HAR. */
export function HarDialog({ filter, onClose }: { filter: string; onClose: () => void }) {
  const [isFiltered, setFiltered] = useState(filter !== "");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const save = async () => {
    const range = { from: requestIn(from), to: requestIn(to) };
    const wanted = { filter: isFiltered ? filter : undefined, project: project.value, ...range };
    await download(harPath(wanted), harName(wanted));
  };
  return (
    <ConfirmDialog title="Download as HAR" does="Download" act={save} onClose={onClose}>
      <p class="muted">
        HAR 1.2, for DevTools, Playwright and similar tools. Secrets are masked. It contains the newest{" "}
        {numberText(mostEntries)} requests at most.
      </p>
      {project.value !== undefined && <p>Only requests of {plain(projectName(project.value), 80)}.</p>}
      {filter !== "" && (
        <CheckField
          label={`Only requests that match the filter ${plain(filter, 120)}`}
          isChecked={isFiltered}
          onChange={setFiltered}
        />
      )}
      <div class="fields">
        <TextField label="From number" inputMode="numeric" value={from} placeholder="first" onText={setFrom} />
        <TextField label="To number" inputMode="numeric" value={to} placeholder="last" onText={setTo} />
      </div>
    </ConfirmDialog>
  );
}
