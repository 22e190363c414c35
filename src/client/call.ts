/** Makes a control call, `path` below /__sim, and returns its answer. @throws ControlError */
export type ControlCall = <T>(method: string, path: string, body?: unknown) => Promise<T>;
