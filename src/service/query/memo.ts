/** The function, whose result for each key is made once. Beyond `most` keys all are forgotten. */
export function memo<K, V>(make: (key: K) => V, most: number = Number.POSITIVE_INFINITY): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const value = known.get(key);
    // it was set
    if (value !== undefined || known.has(key)) return value as V;
    if (known.size >= most) known.clear();
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
