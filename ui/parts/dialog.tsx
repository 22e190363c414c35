import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button, Trouble } from "./basics.tsx";

/** A modal dialog. Escape or a click outside closes it; the focus returns to where it was. */
export function Dialog({ title, onClose, onKeyDown, children, actions }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const it = box.current;
    const before = document.activeElement;
    it?.showModal();
    return () => {
      it?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      class="dialog"
      ref={box}
      onClose={onClose}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        // clicks inside hit the dialog's content, not the dialog
        if (event.target === box.current) onClose();
      }}
      aria-labelledby={name}
    >
      <div class="dialog-inside">
        <header class="row">
          <h2 id={name}>{title}</h2>
          <Button kind="quiet" onClick={onClose} aria-label="Close">
            ✕
          </Button>
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="row">{actions}</footer>}
      </div>
    </dialog>
  );
}

interface DialogProps {
  title: string;
  onClose(): void;
  onKeyDown?(event: KeyboardEvent): void;
  children: ComponentChildren;
  actions?: ComponentChildren;
}

interface ConfirmDialogProps {
  title: string;
  /** Label of the confirming button. */
  does: string;
  isDanger?: boolean;
  isReady?: boolean;
  act(): Promise<unknown>;
  onClose(): void;
  children: ComponentChildren;
}

/** Describes a change and performs it when confirmed. Stays open after an error. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, does, isDanger = false, isReady = true, act, onClose, children } = props;
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
      <div class="stack stack-wide">
        {children}
        {problem && <Trouble problem={problem} />}
      </div>
    </Dialog>
  );
}
