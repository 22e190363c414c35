import type { Call } from "../http/call.ts";
import type { Reply } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import { inSlices, type Work } from "../kernel/work.ts";
import type { Note } from "../model/traffic.ts";

/**
 * A handler that writes what it finds out into a note. The note goes with the answer, or with the error
 * that rejects the request, so that the journal has it either way. A request that is much work is handled in
 * slices: its answer, and its line in the journal, come when all of it is done.
 */
export const noting =
  (take: (call: Call, note: Note) => Work<Reply>) =>
  (call: Call): Reply | Promise<Reply> => {
    const note: Note = {};
    return inSlices(noted(take(call, note), note));
  };

function* noted(work: Work<Reply>, note: Note): Work<Reply> {
  try {
    const reply = yield* work;
    reply.note = note;
    return reply;
  } catch (error) {
    throw error instanceof SimError ? withNote(error, note) : error;
  }
}
