export const targets: Readonly<Record<string, readonly string[]>>;
export const missingFiles: (root: string) => string[];
