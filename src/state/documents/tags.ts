/**
 * Tags as they are kept: trimmed, lower case, without repetition, sorted; empty ones vanish.
 * Upstream: `posthog/api/tagged_item.py`, which leaves their order to the database.
 */
export const tidyTags = (tags: readonly string[]): string[] =>
  [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== "").sort();
