import type { Column } from "./columns.ts";
import type { Target } from "./target.ts";

/** Makes the bytes of one file of records. */
export interface Encoder<R> {
  add(record: R): void;
  /** Is there enough to be taken? */
  readonly isFull: boolean;
  /** The bytes of what was added. */
  take(): Promise<Uint8Array>;
  /** The last bytes of the file. */
  end(): Promise<Uint8Array>;
}

/** The encoder of a format; its code is loaded when it is first used. */
export async function encoderFor<R>(
  { format, compression }: Target,
  columns: readonly Column<R>[],
): Promise<() => Encoder<R>> {
  if (format === "Parquet") {
    const { parquetEncoder } = await import("./parquet.ts");
    return () => parquetEncoder(columns, compression);
  }
  const { jsonLinesEncoder } = await import("./json-lines.ts");
  return () => jsonLinesEncoder(columns, compression);
}
