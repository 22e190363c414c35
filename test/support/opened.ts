const opened: (() => unknown)[] = [];

/** Has something closed after the tests of the present file, the last that was opened first. */
export function closeAtEnd(close: () => unknown): void {
  opened.push(close);
}

/** Files share a process and their modules, so each closes what it opened: `set-up.ts` calls this. */
export async function closeOpened(): Promise<void> {
  const failures: unknown[] = [];
  for (let close = opened.pop(); close; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
