import { SimError } from "../base/errors.ts";
import { mediaType } from "./media-type.ts";

const undecodable = (detail: string) => new SimError("undecodable_payload", `failed to decode request: ${detail}`);

export interface MultipartPart {
  name: string;
  type: string | undefined;
  encoding: string | undefined;
  content: Buffer;
}

const dashes = "--";
const headEnd = "\r\n\r\n";

/** The boundary named by a content type. @throws SimError undecodable_payload */
export function boundaryOf(contentType: string): string {
  if (mediaType(contentType) !== "multipart/form-data") {
    throw undecodable("Content-Type must be multipart/form-data");
  }
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,70})"|([^;\s]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw undecodable("Invalid boundary in Content-Type");
  return boundary;
}

const headerValue = (head: string, name: string): string | undefined =>
  head
    .split("\r\n")
    .find((line) => line.toLowerCase().startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim();

function partOf(bytes: Buffer): MultipartPart {
  const end = bytes.indexOf(headEnd);
  if (end === -1) throw undecodable("Multipart parsing failed: part without a header");
  const head = bytes.toString("utf8", 0, end);
  const disposition = headerValue(head, "content-disposition") ?? "";
  return {
    name: /\bname="([^"]*)"/.exec(disposition)?.[1] ?? "unknown",
    type: headerValue(head, "content-type"),
    encoding: headerValue(head, "content-encoding"),
    content: bytes.subarray(end + headEnd.length),
  };
}

/** Cuts a multipart body into its parts (RFC 7578). @throws SimError undecodable_payload */
export function readParts(body: Buffer, boundary: string): MultipartPart[] {
  const opening = body.indexOf(dashes + boundary);
  if (opening === -1) throw undecodable("Multipart parsing failed: incomplete multipart stream");
  const separator = `\r\n${dashes}${boundary}`;
  const parts: MultipartPart[] = [];
  let at = opening + dashes.length + boundary.length;
  while (body.toString("latin1", at, at + 2) !== dashes) {
    const end = body.indexOf(separator, at);
    if (end === -1) throw undecodable("Multipart parsing failed: incomplete multipart stream");
    parts.push(partOf(body.subarray(at + 2, end)));
    at = end + separator.length;
  }
  return parts;
}
