/** Makes the bytes of one file of records. */
export interface Encoder<R> {
  add(record: R): void;
  /** True if there is enough to be taken. */
  readonly isFull: boolean;
  /** The bytes of what was added. */
  take(): Promise<Uint8Array>;
  /** The last bytes of the file. */
  end(): Promise<Uint8Array>;
}
