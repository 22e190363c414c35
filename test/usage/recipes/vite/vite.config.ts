import { defineConfig } from "vite";

export default defineConfig({
  server: {
    proxy: {
      "/ingest": {
        target: process.env.POSTHOG_HOST ?? "https://us.i.posthog.com",
        changeOrigin: true,
        rewrite: (path) => path.replace(/^\/ingest/, ""),
      },
    },
  },
});
