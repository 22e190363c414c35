import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, Trouble } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/dialog.tsx";

interface AskProps {
  title: string;
  /** What the button says that does it. */
  does: string;
  isDanger?: boolean;
  isReady?: boolean;
  act(): Promise<unknown>;
  onClose(): void;
  children: ComponentChildren;
}

/** Says what is about to change, and does it when told to. It stays open while something is wrong. */
export function Ask({ title, does, isDanger = false, isReady = true, act, onClose, children }: AskProps) {
  const [problem, setProblem] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={isDanger ? "danger" : "main"} onClick={run} disabled={isBusy || !isReady}>
            {does}
          </Button>
        </>
      }
    >
      <div class="tapes-form">
        {children}
        {problem && <Trouble problem={problem} />}
      </div>
    </Dialog>
  );
}
