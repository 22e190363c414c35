/** Something that is wrong with what a user wrote, as other programs read it. */
export interface Problem {
  /** Absolute path; null for what was not read from a file. */
  readonly file: string | null;
  /** From 1; null when the problem is the file itself, or there is none. */
  readonly line: number | null;
  /** From 1, in UTF-16 units as editors count. */
  readonly column: number | null;
  /** RFC 6901. */
  readonly pointer: string;
  /** What is wrong, and what was expected. */
  readonly message: string;
  /** What may have been meant, or null. */
  readonly hint: string | null;
}
