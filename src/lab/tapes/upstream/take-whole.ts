import type { IncomingMessage } from "node:http";

/**
 * Calls `whole` with all parts of a message that came with its head, in the same turn of the event loop; or `stream` at the
 * end of this turn: the message is then a stream from its first byte. Most messages are small, and a stream calls its
 * listeners in later turns: each part would be a write of its own.
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
