import type { Json } from "../../../src/kernel/base/json.ts";
import { counted, numberText } from "../text.ts";
import { type Kind, kinds, pageSize, type TreeRow } from "./model.ts";
import { cutText, type Piece, piecesOf } from "./safe-text.ts";

/** Untrusted text with marked hits and escaped invisible characters. */
export function ShownText({ text, finder }: { text: string; finder?: RegExp | undefined }) {
  return (
    <>
      {piecesOf(text, finder).map((piece, i) => (
        <ShownPiece key={i} piece={piece} />
      ))}
    </>
  );
}

function ShownPiece({ piece }: { piece: Piece }) {
  if (piece.mark === "hit") return <mark>{piece.text}</mark>;
  if (piece.mark === "plain") return <bdi>{piece.text}</bdi>;
  return (
    <>
      <span class="tree-spelled">{piece.text}</span>
      {piece.endsLine && "\n"}
    </>
  );
}

const branchText = (value: Json, size: number): string => counted(size, Array.isArray(value) ? "item" : "key");

interface PartProps {
  row: TreeRow;
  finder: RegExp | undefined;
  onMore(): void;
}

type ValueRow = Extract<TreeRow, { is: "value" }>;

function Value({ row, finder, onMore }: PartProps & { row: ValueRow }) {
  const { value, kind, size } = row;
  if (kind === "object" || kind === "list") return <span class="tree-size">{branchText(value, size)}</span>;
  if (typeof value !== "string") return <span class={`tree-value tree-${kind}`}>{String(value)}</span>;
  return (
    <span class="tree-value tree-text">
      <ShownText text={row.isWhole ? value : cutText(value)} finder={finder} />
      {!row.isWhole && (
        <button type="button" class="button button-quiet tree-more" tabIndex={-1} onClick={onMore}>
          … show all {numberText(size)} characters
        </button>
      )}
    </span>
  );
}

/** The mark of a value's kind. */
export function KindMark({ kind }: { kind: Kind }) {
  const { name, mark } = kinds[kind];
  return (
    <span class={`tree-kind tree-${kind}`} title={name}>
      <span aria-hidden="true">{mark}</span>
      <span class="unseen">{name}</span>
    </span>
  );
}

function ValueParts(props: PartProps & { row: ValueRow }) {
  const { row, finder } = props;
  return (
    <>
      <KindMark kind={row.kind} />
      {row.path.length > 0 && (
        <span class="tree-key">
          <ShownText text={cutText(row.name, 200)} finder={finder} />
          <span class="faint">:</span>
        </span>
      )}
      <Value {...props} row={row} />
    </>
  );
}

export function RowParts(props: PartProps) {
  const { row, onMore } = props;
  if (row.is === "value") return <ValueParts {...props} row={row} />;
  if (row.is === "group")
    return (
      <>
        <span class="tree-group">
          {row.title} <span class="tree-size">{numberText(row.size)}</span>
        </span>
        <span class="muted cut tree-summary">{row.summary}</span>
      </>
    );
  return (
    <button type="button" class="button button-quiet tree-more" tabIndex={-1} onClick={onMore}>
      show {Math.min(pageSize, row.left)} {row.side === "before" ? "before" : "more"} of {numberText(row.total)}
    </button>
  );
}
