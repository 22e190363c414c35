import { signal } from "@preact/signals";

/** The number of problems that were not seen on Start yet; problem-news.ts sets it. */
export const newProblems = signal(0);
