import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./basics.tsx";

/** Asks or shows something before all else. Escape closes it; the focus goes back where it was. */
export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const it = box.current;
    it?.showModal();
    return () => it?.close();
  }, []);
  return (
    <dialog class="dialog" ref={box} onClose={onClose} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" onClick={onClose} aria-label="Close">
          ✕
        </Button>
      </header>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <footer>{actions}</footer>}
    </dialog>
  );
}

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
  actions?: ComponentChildren;
}
