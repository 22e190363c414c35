export const boardTest = (_: unknown): string => "";
export const insightTest = (..._: unknown[]): string => "";
