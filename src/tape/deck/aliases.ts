/**
 * Which recorded id stands for which live one, for one client. Two runs of a program make other UUIDs; everything
 * else about their ids is the same.
 */
export interface Aliases {
  /** Could these recorded ids be those live ones, by all that is known? `anySecret`: any secret can be any other one. */
  fits(recorded: readonly string[], live: readonly string[], anySecret?: boolean): boolean;
  /**
   * Remembers that they are; pairs that contradict what is known are left out. A recorded secret is the one that was
   * sent last in its place: clients may use several keys, and a tape has only one.
   */
  bind(recorded: readonly string[], live: readonly string[]): void;
  /** The live id for a recorded one; undefined: none yet. */
  liveOf(recorded: string): string | undefined;
  /** The recorded id for a live one; undefined: none yet. */
  recordedOf(live: string): string | undefined;
  /** Does any id differ from its recorded one? */
  readonly differs: boolean;
}

/** Keys, tokens, and what has a placeholder on the tape. */
export const isSecret = (id: string): boolean => id.startsWith("s:");

/** `isFree`: may this recorded id stand for another live one? */
export function createAliases(isFree: (recorded: string) => boolean): Aliases {
  const toLive = new Map<string, string>();
  const toRecorded = new Map<string, string>();
  let differs = false;

  /** Pairs of one request must agree with each other, too. */
  const agrees = (recorded: string, live: string, others: Map<string, string>): boolean => {
    const bound = toLive.get(recorded) ?? others.get(`>${recorded}`);
    const back = toRecorded.get(live) ?? others.get(`<${live}`);
    // Pairs are noted both ways, so that one way shows whether they are each other's.
    if (bound !== undefined || back !== undefined) return bound === live;
    others.set(`>${recorded}`, live).set(`<${live}`, recorded);
    return recorded === live || (recorded.slice(0, 2) === live.slice(0, 2) && isFree(recorded));
  };
  const bindOne = (recorded: string, live: string): void => {
    if (isSecret(recorded) && isSecret(live)) {
      toLive.set(recorded, live);
      toRecorded.set(live, recorded);
      if (recorded !== live) differs = true;
      return;
    }
    if (toLive.has(recorded) || toRecorded.has(live)) return;
    toLive.set(recorded, live);
    toRecorded.set(live, recorded);
    if (recorded !== live) differs = true;
  };
  return {
    fits(recorded, live, anySecret = false) {
      if (recorded.length !== live.length) return false;
      const others = new Map<string, string>();
      return recorded.every((it, at) => {
        const other = live[at] ?? "";
        return (anySecret && isSecret(it) && isSecret(other)) || agrees(it, other, others);
      });
    },
    bind(recorded, live) {
      for (const [at, it] of recorded.entries()) {
        const other = live[at];
        if (other !== undefined) bindOne(it, other);
      }
    },
    liveOf: (recorded) => toLive.get(recorded),
    recordedOf: (live) => toRecorded.get(live),
    get differs() {
      return differs;
    },
  };
}
