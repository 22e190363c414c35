/** Names are for people; a title may be as long as it likes. */
const longestName = 200;

/** A test's title as the name of its project. */
export const projectName = (title: string): string => title.slice(0, longestName);
