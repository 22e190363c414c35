const longest = 48;

/** ASCII letters, digits, `_` and single hyphens; may be empty. Upstream: `django.utils.text.slugify`. */
export const slugified = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/[^\x20-\x7e\s]/g, "")
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");

/** The readable part of an organization's address, at most 48 characters. Upstream: `MAX_SLUG_LENGTH`. */
export const slugOf = (name: string): string => slugified(name).slice(0, longest);

/** A slug that is not `taken`: the plain one, or its first 43 characters with 4 `letters`, which are new for each try. */
export function freeSlug(name: string, taken: { has(slug: string): boolean }, letters: () => string): string {
  const plain = slugOf(name);
  let slug = plain;
  while (slug === "" || taken.has(slug)) slug = `${plain.slice(0, longest - 5)}-${letters()}`.replace(/^-/, "");
  return slug;
}
