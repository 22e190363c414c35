import type { EndpointDocs } from "../http/endpoint.ts";
import { controlErrorSchema, errorReplies } from "../http/error-schemas.ts";

const refusals = errorReplies({ schema: controlErrorSchema }, 403, 404);

/** A file of the page: there without the token, for whoever opens it here. */
const file = (description: string, type: string): EndpointDocs => ({
  replies: {
    200: { description, type },
    304: { description: "What the caller has is up to date" },
    ...refusals,
  },
});

/** The inspector's files. */
export const pageDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim": file("The page", "text/html"),
  "GET /__sim/app.js": file("Its code", "text/javascript"),
  "GET /__sim/app.css": file("Its styles", "text/css"),
  "GET /__sim/app/:part": file("The code of a view", "text/javascript"),
};
