/** Changes that are written together, or taken back together: what a refused request did must not stay. */
export interface Unit {
  /** Writes what changed. @throws the system's error */
  write(): void;
  /** What changed up to now stays. */
  settle(): void;
  /** Takes back, in memory and in the file, what changed since it was last settled. */
  rollBack(): void;
}
