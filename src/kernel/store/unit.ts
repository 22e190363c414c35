/** Changes that are written or rolled back together: a refused request must leave no changes. */
export interface Unit {
  write(): void;
  /** Makes the changes up to now permanent. */
  settle(): void;
  /** Undoes the changes since the last `settle`, in memory and in the file. */
  rollBack(): void;
}
