import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./basics.tsx";

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
        <header>
          <h2 id={name}>{title}</h2>
          <Button kind="quiet" onClick={onClose} aria-label="Close">
            ✕
          </Button>
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer>{actions}</footer>}
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
