const ownPaths =
  /^\/(?:favicon\.(?:ico|png|svg)|apple-touch-icon[\w-]*\.png|browserconfig\.xml|robots\.txt|\.well-known\/.*)$|\.map$/;

/** True for what browsers, their tools and crawlers request by themselves: that it is missing is no mistake. */
export const isBrowsersOwn = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  (method === "GET" || method === "HEAD") && ownPaths.test(path);
