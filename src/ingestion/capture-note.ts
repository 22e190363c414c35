import type { Call } from "../http/call.ts";
import type { Reply } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import type { Note } from "../model/traffic.ts";

/**
 * A handler that writes what it finds out into a note. The note goes with the answer, or with the error
 * that rejects the request, so that the journal has it either way.
 */
export const noting =
  (take: (call: Call, note: Note) => Reply) =>
  (call: Call): Reply => {
    const note: Note = {};
    try {
      const reply = take(call, note);
      reply.note = note;
      return reply;
    } catch (error) {
      throw error instanceof SimError ? withNote(error, note) : error;
    }
  };
