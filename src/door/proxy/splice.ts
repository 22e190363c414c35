import type { Socket } from "node:net";

/** Each gets what the other sends; half-closed and broken alike on both sides. */
export function splice(one: Socket, two: Socket): void {
  passOn(one, two);
  passOn(two, one);
}

function passOn(from: Socket, to: Socket): void {
  from.pipe(to);
  // the close that follows an error tells the other side
  from.on("error", () => {});
  from.once("close", (broken) => {
    if (broken) to.destroy();
    else to.destroySoon();
  });
}
