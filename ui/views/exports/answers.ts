/** What the control API answers about the clock. */

/** An effect of moving the clock. */
export interface Happened {
  readonly at: string;
  readonly kind: string;
  readonly batch_export?: string;
  readonly run?: string | null;
}
