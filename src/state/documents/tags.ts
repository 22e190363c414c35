/** Trimmed, lower case, unique, sorted, none empty. Upstream `posthog/api/tagged_item.py` leaves the order to the database. */
export const tidyTags = (tags: readonly string[]): string[] =>
  [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== "").sort();
