/** Shape of the `X-Test-Id` header, which names a partition. */
export const partitionShape = /^[\x21-\x7e]{1,200}$/;

/** The partition that a request's `X-Test-Id` header names, if it can be one. */
export function partitionOf(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = headers["x-test-id"];
  return name !== undefined && partitionShape.test(name) ? name : undefined;
}
