/** Makes a control call, `path` below /__sim, and returns its answer. @throws ControlError */
export type ControlCall = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Fetches what a path of the sim answers, as it is. @throws ControlError */
export type ControlFetch = (path: string) => Promise<Uint8Array>;
