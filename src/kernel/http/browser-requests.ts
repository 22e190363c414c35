/** Icons, files of crawlers, well-known addresses and source maps, by path. */
const ownPaths =
  /^\/(?:favicon\.(?:ico|png|svg)|apple-touch-icon[\w-]*\.png|browserconfig\.xml|robots\.txt|\.well-known\/.*)$|\.map$/;

/**
 * True for a request that browsers, their tools and crawlers make by themselves. That there is no answer is no mistake of
 * the app.
 */
export const isBrowsersOwn = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  (method === "GET" || method === "HEAD") && ownPaths.test(path);
