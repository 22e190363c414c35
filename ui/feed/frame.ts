/** A page that is not seen draws no frames; what came is taken in all the same, at this pace, ms. */
const backstop = 500;

/** A function that runs `draw` with the next frame, however often it is called before that. */
export function onceAFrame(draw: () => void): () => void {
  let isDue = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    if (!isDue) return;
    isDue = false;
    clearTimeout(timer);
    draw();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(run);
    timer = setTimeout(run, backstop);
  };
}
