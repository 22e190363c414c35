import type { ExceptionFrame, FrameOwner } from "../../../../src/state/journal/exception.ts";
import { counted } from "../../../parts/text.ts";

const positionText = ({ line, column }: ExceptionFrame): string =>
  line === null ? "" : column === null ? `:${line}` : `:${line}:${column}`;

/** The file with line and column; the origin of a local URL says nothing. */
export const placeText = (frame: ExceptionFrame): string =>
  frame.file.replace(/^(?:https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/|file:\/\/)/, "") +
  positionText(frame);

/** `price.ts:42`. */
export const fileText = ({ file, line }: ExceptionFrame): string =>
  `${(file.split(/[?#]/, 1)[0] ?? "").replace(/^.*[\\/]/, "")}${line === null ? "" : `:${line}`}`;

/** Frames that are shown as one line. */
interface Fold {
  readonly frames: readonly ExceptionFrame[];
  /** `4 library frames: express, router`. */
  readonly text: string;
}

const mostNames = 4;

function foldOf(frames: readonly ExceptionFrame[], owner: FrameOwner): Fold {
  const names = [...new Set(frames.map(({ from }) => from).filter((it) => it !== ""))];
  const listed = names.slice(0, mostNames).join(", ") + (names.length > mostNames ? " …" : "");
  const text = counted(frames.length, `${owner} frame`);
  return { frames, text: listed === "" ? text : `${text}: ${listed}` };
}

/** The frames in order; if folded, neighbours of one owner that is not the app are one line. */
export function framesFolded(frames: readonly ExceptionFrame[], isFolded: boolean): readonly (ExceptionFrame | Fold)[] {
  if (!isFolded) return frames;
  const shown: (ExceptionFrame | Fold)[] = [];
  let pending: ExceptionFrame[] = [];
  const flush = () => {
    const [first] = pending;
    if (first) shown.push(foldOf(pending, first.owner));
    pending = [];
  };
  for (const frame of frames) {
    if (frame.owner !== (pending[0]?.owner ?? frame.owner)) flush();
    if (frame.owner === "app") shown.push(frame);
    else pending.push(frame);
  }
  flush();
  return shown;
}
