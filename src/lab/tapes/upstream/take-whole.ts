import type { IncomingMessage } from "node:http";

/**
 * `whole` gets all parts that came with the head, in this turn of the event loop; else `stream` is called at its end.
 * Most messages are small, and a stream calls its listeners in later turns: each part would be a write of its own.
 */
export function takeWhole(
  message: IncomingMessage,
  whole: (parts: readonly Buffer[]) => void,
  stream: () => void,
): void {
  // What a stream holds already cannot be taken.
  if (message.complete || message.readableLength > 0) {
    stream();
    return;
  }
  const { push } = message;
  const parts: Buffer[] = [];
  let isWhole = false;
  message.push = (part: Buffer | null) => {
    if (part !== null) parts.push(part);
    else {
      isWhole = true;
      message.push = push;
      whole(parts);
    }
    return true;
  };
  process.nextTick(() => {
    if (isWhole) return;
    message.push = push;
    for (const part of parts) message.push(part);
    stream();
  });
}
