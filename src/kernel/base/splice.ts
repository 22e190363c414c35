import type { Socket } from "node:net";

/** Passes the bytes of each to the other, and their ends. */
export function splice(one: Socket, two: Socket): void {
  passOn(one, two);
  passOn(two, one);
}

function passOn(from: Socket, to: Socket): void {
  from.pipe(to);
  // the close that follows an error ends the other side
  from.on("error", () => {});
  from.once("close", (broken) => {
    if (broken) to.destroy();
    else to.destroySoon();
  });
}
