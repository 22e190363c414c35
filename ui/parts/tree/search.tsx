import { Button } from "../basics.tsx";
import { numberText } from "../text.ts";
import type { Found } from "./model.ts";

interface SearchProps {
  text: string;
  found: Found;
  /** Which hit is in focus, from 0. */
  current: number;
  /** How large all of it is. */
  size: string;
  onText(text: string): void;
  onGo(index: number): void;
}

function countText({ text, found, current }: SearchProps): string {
  const { length } = found.hits;
  if (text.trim() === "") return "";
  if (length === 0) return "nothing found";
  return `${numberText(current + 1)} of ${numberText(length)}${found.isCut ? "+" : ""}`;
}

/** A box to search a tree with; Enter goes to the next hit, Shift+Enter to the one before. */
export function TreeSearch(props: SearchProps) {
  const { text, found, current, size, onText, onGo } = props;
  const { length } = found.hits;
  const step = (by: number) => length > 0 && onGo((current + by + length) % length);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && text !== "") {
      event.stopPropagation();
      onText("");
    }
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  };
  return (
    <search class="tree-search">
      <input
        class="input"
        type="search"
        value={text}
        placeholder="Search keys and values"
        aria-label="Search keys and values"
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="tree-count" role="status">
        {countText(props)}
      </span>
      {length > 1 && (
        <span class="tree-steps">
          <Button kind="quiet" aria-label="Previous hit" onClick={() => step(-1)}>
            ↑
          </Button>
          <Button kind="quiet" aria-label="Next hit" onClick={() => step(1)}>
            ↓
          </Button>
        </span>
      )}
      <span class="tree-size tree-total">{size}</span>
    </search>
  );
}
