import { useEffect, useRef, useState } from "preact/hooks";

/** The value, which changes at most once in this time, ms; the last change is never lost. */
export function usePaced<T>(value: T, pause: number): T {
  const [paced, setPaced] = useState(value);
  const last = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const take = () => {
      last.current = performance.now();
      setPaced(value);
    };
    const wait = last.current + pause - performance.now();
    if (wait <= 0) return take();
    const timer = setTimeout(take, wait);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return paced;
}
