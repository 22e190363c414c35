import type { Endpoint } from "../../http/endpoint.ts";
import { script } from "../../http/reply.ts";
import { fresh } from "./answer.ts";

/** The service's URL of a site app is /site_app/{id}/{token}/{hash}/. */
const paths = ["/site_app/:id", "/site_app/:id/:token", "/site_app/:id/:token/:hash"];

/** A site app that does nothing; the default remote config names none. */
export const siteAppEndpoints = (): Endpoint[] =>
  paths.map((path) => ({
    methods: ["GET"],
    path,
    family: "service",
    summary: "A site app's script: one that does nothing",
    handle: () => fresh(script("/* phx-sim runs no site apps */\n")),
  }));
