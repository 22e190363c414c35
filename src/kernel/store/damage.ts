/** Something in a file of a data folder that cannot be read, and what that costs. */
export interface Damage {
  file: string;
  /** The first line that is affected, from 1; null where the file as a whole is. */
  line: number | null;
  detail: string;
}

/** Entries kept: a disk full of zeros must not fill the memory as well. */
const mostKept = 100;
const mostPrinted = 10;

const damageText = ({ file, line, detail }: Damage): string => `${file}${line === null ? "" : `:${line}`}: ${detail}`;

/** Reports to `notice` what is found, at most ten entries and a reference to the others. */
export function createDamageList(notice: (text: string) => void = () => {}) {
  const first: Damage[] = [];
  const known = new Set<string>();
  let count = 0;
  return {
    first,
    get count() {
      return count;
    },
    report(damage: Damage) {
      const text = damageText(damage);
      if (known.has(text)) return;
      count++;
      if (count <= mostKept) {
        first.push(damage);
        known.add(text);
      }
      if (count <= mostPrinted) notice(text);
      if (count === mostPrinted + 1) notice("more of the data folder is damaged; phx-sim doctor --data DIR lists it");
    },
  };
}

export type DamageList = ReturnType<typeof createDamageList>;
