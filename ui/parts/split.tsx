import type { ComponentChildren } from "preact";

/** A list, and beside it what was chosen in it; where there is little room, over it. */
export function Split({ list, details, label, onClose }: SplitProps) {
  return (
    <div class={details === undefined ? "split" : "split split-open"}>
      <div class="split-list">{list}</div>
      {details !== undefined && (
        <aside class="split-details" aria-label={label}>
          <button
            type="button"
            class="button button-quiet split-close"
            onClick={onClose}
            aria-label="Close the details"
          >
            ✕
          </button>
          {details}
        </aside>
      )}
    </div>
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
