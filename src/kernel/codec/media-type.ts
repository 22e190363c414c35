export const mediaType = (contentType: string | undefined): string =>
  (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

export const isJsonType = (contentType: string | undefined): boolean => mediaType(contentType) === "application/json";
