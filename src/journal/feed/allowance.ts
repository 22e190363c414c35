/** Lets through `perSecond` messages a second, and as many at once after silence. @param now ms */
export function createAllowance(perSecond: number, now: () => number): () => boolean {
  let left = perSecond;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(perSecond, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left--;
    return true;
  };
}
