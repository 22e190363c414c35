import { useSignal } from "@preact/signals";
import { call, problemOf, query, type SimProblem } from "../../api/call.ts";
import { project } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Button, Trouble } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { plain } from "../../parts/text.ts";

/** Asks before events are thrown away. */
export function ClearDialog({ onClose }: { onClose(): void }) {
  const problem = useSignal<SimProblem | undefined>(undefined);
  const id = project.value;
  const whose = id === undefined ? "all projects" : plain(projectName(id));
  async function clear(): Promise<void> {
    try {
      await call("DELETE", `events${query({ project: id })}`);
      onClose();
    } catch (error) {
      problem.value = problemOf(error);
    }
  }
  return (
    <Dialog
      title="Clear events"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep them</Button>
          <Button kind="danger" onClick={() => void clear()}>
            {`Clear the events of ${whose}`}
          </Button>
        </>
      }
    >
      <p>
        {`The sim forgets the events of ${whose}, for everybody who uses it. Persons and groups stay, and the numbering goes on.`}
      </p>
      <p class="muted">
        To see only what comes from now on, close this and choose “From now on”: that forgets nothing.
      </p>
      {problem.value && <Trouble problem={problem.value} />}
    </Dialog>
  );
}
