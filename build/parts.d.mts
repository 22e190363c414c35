export function partOf(path: string): string;
