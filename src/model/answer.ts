import type { z } from "zod";
import type * as authored from "./schemas/answer.ts";

/** An answer that is given in place of the emulator's. */
export type ScriptedAnswer = z.infer<typeof authored.ScriptedAnswer>;

/** The result of one event of a capture v1 batch. */
export type EventResult = z.infer<typeof authored.EventResult>;

/** Whose requests a queue of answers is for: a project's, or those that name the partition. */
export type AnswerPlace = { readonly project: number } | { readonly partition: string };

/** An answer that waits. */
export interface WaitingAnswer
  extends Required<Pick<ScriptedAnswer, "status" | "headers" | "match" | "keep">> {
  /** Absent: none. */
  readonly body?: ScriptedAnswer["body"];
  /** Absent: none. */
  readonly results?: ScriptedAnswer["results"];
  /** How many more requests get it. */
  readonly left: number;
}

/** A queue of answers as it is shown. */
export interface AnswerQueue {
  readonly project: number | null;
  readonly partition: string | null;
  /** In the order they are given. */
  readonly waiting: readonly WaitingAnswer[];
  /** Requests that got one. */
  readonly used: number;
}

/** As sent in the header that names a partition. */
export const partitionShape = /^[\x21-\x7e]{1,200}$/;

/** The partition that a request's `X-Test-Id` header names; undefined when there is none that can be one. */
export function partitionOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = headers["x-test-id"];
  return name !== undefined && partitionShape.test(name) ? name : undefined;
}
