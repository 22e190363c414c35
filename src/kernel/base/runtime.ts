const { bun, deno } = process.versions;

/** False in Bun and Deno: their `fetch` opens no connection of `node:net`, and their HTTP parsers call nothing of ours. */
export const isNode = bun === undefined && deno === undefined;
