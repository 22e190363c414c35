/** Path and query apart. */
export function targetParts(target: string): { path: string; query: string } {
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
