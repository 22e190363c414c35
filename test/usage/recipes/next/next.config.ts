const host = process.env.POSTHOG_HOST ?? "https://us.i.posthog.com";
const assets = process.env.POSTHOG_HOST ?? "https://us-assets.i.posthog.com";

export default {
  // The SDK's paths end in a slash, and Next.js redirects such paths by default.
  skipTrailingSlashRedirect: true,
  rewrites: async () => [
    { source: "/ingest/static/:path*", destination: `${assets}/static/:path*` },
    { source: "/ingest/array/:path*", destination: `${assets}/array/:path*` },
    { source: "/ingest/:path*", destination: `${host}/:path*` },
  ],
};
