/** Timers and the clock as they are when this module is loaded: fake timers of a test do not stop a sim in its process. */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, performance } = globalThis;
