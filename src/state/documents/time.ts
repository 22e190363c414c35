/** UTC, microseconds unless they are zero, `Z`. Upstream: Django REST framework, `DateTimeField.to_representation`. */
export function wireTime(ms: number): string {
  const text = new Date(ms).toISOString();
  return text.endsWith(".000Z") ? text.replace(".000Z", "Z") : text.replace("Z", "000Z");
}

/** For `sort`, of wire times: as texts, one without a fraction would come after the fractions of its second. */
export function compareTimes(a: string, b: string): number {
  const [left, right] = [a.slice(0, -1), b.slice(0, -1)];
  return left < right ? -1 : left > right ? 1 : 0;
}
