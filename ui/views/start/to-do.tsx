/** What to do about it; what stands between backticks is code. */
export function ToDo({ text }: { text: string }) {
  return (
    <p class="muted">
      To do: {text.split("`").map((part, i) => (i % 2 === 0 ? part : <code key={part}>{part}</code>))}.
    </p>
  );
}
