/** What the browser keeps for the page; nothing where it is not allowed to. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text under a name; where the browser refuses, it holds for this page only. */
export function keep(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {
    // a private window, or storage is full
  }
}
