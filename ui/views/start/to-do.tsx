import { Prose } from "../../parts/prose.tsx";

/** What to do about it; what stands between backticks is code. */
export function ToDo({ text }: { text: string }) {
  return (
    <p class="muted">
      Fix: <Prose text={text} />.
    </p>
  );
}
