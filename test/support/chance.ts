import fc from "fast-check";

/**
 * Generated cases are the same in every run, so that a run fails for what was changed and for nothing else.
 * `PROPERTY_SEED` draws others: a number, or `random` (fast-check names the seed of what fails).
 */
const seed = process.env.PROPERTY_SEED ?? "20261121";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });

export { fc };
