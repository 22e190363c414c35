import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keep, kept } from "./kept.ts";

const name = "phx-sim-split";
const [narrowest, widest, usual, step] = [25, 75, 45, 2] as const;

const within = (share: number): number => Math.round(Math.max(narrowest, Math.min(widest, share)));

/** The details' share of the width in per cent, as it was left. */
const keptShare = (): number => {
  const share = Number(kept(name) ?? Number.NaN);
  return Number.isFinite(share) ? within(share) : usual;
};

/** Where there is little room the details lie over the list. */
const isOver = () => matchMedia("(max-width: 60rem)").matches;

/** A list, and beside it what was chosen in it; where there is little room, over it. */
export function Split({ list, details, label, onClose }: SplitProps) {
  const [share, setShare] = useState(keptShare);
  const box = useRef<HTMLDivElement>(null);
  const isOpen = details !== undefined;
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    // what has the focus must be seen, and what had it may be gone with the details
    const inner = isOpen ? ".split-details" : ".split-list [tabindex='0']";
    const isLost = !isOpen && document.activeElement === document.body;
    if (isLost || isOver()) box.current?.querySelector<HTMLElement>(inner)?.focus({ preventScroll: true });
  }, [isOpen]);
  const resize = (to: number) => {
    setShare(within(to));
    keep(name, String(within(to)));
  };
  return (
    <div class={isOpen ? "split split-open" : "split"} ref={box} style={{ "--split-share": `${share}%` }}>
      <div class="split-list">{list}</div>
      {isOpen && (
        <>
          <Divider share={share} onResize={resize} />
          <aside class="split-details" aria-label={label} tabIndex={-1}>
            <button type="button" class="button button-quiet split-close" onClick={onClose}>
              <span class="split-back">‹ Back</span>
              <span class="split-cross">
                <span aria-hidden="true">✕</span>
                <span class="unseen">Close the details</span>
              </span>
            </button>
            {details}
          </aside>
        </>
      )}
    </div>
  );
}

const keys: Readonly<Record<string, number>> = { ArrowLeft: step, ArrowRight: -step };

/** Between list and details: dragged, or moved by the arrow keys. */
function Divider({ share, onResize }: { share: number; onResize(share: number): void }) {
  const drag = (event: PointerEvent) => {
    const handle = event.currentTarget;
    if (!(handle instanceof HTMLElement) || !handle.hasPointerCapture(event.pointerId)) return;
    const room = handle.parentElement?.getBoundingClientRect();
    if (room) onResize(((room.right - event.clientX) / room.width) * 100);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      class="split-divider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the details"
      aria-valuenow={share}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDblClick={() => onResize(usual)}
      onKeyDown={(event) => {
        const by = keys[event.key];
        if (by === undefined) return;
        event.preventDefault();
        onResize(share + by);
      }}
    />
  );
}

interface SplitProps {
  list: ComponentChildren;
  /** undefined: nothing is chosen. */
  details: ComponentChildren | undefined;
  /** What the details are of. */
  label: string;
  onClose(): void;
}
