/** A sentence of ours in which `code` stands between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, i) =>
        // every other part stood between backticks
        i % 2 === 1 ? <code key={`${i} ${part}`}>{part}</code> : part,
      )}
    </>
  );
}
