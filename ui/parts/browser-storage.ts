/** A stored string; null if none, or if storage is not available. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Stores a string; does nothing if storage is not available. */
export function keep(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {}
}
