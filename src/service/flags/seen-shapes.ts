import { z } from "zod";

const band = {
  expected: z.number().describe("What a fair draw gives on average"),
  low: z.number().describe("95 of 100 fair draws give at least this"),
  high: z.number().describe("95 of 100 fair draws give at most this"),
  verdict: z
    .enum(["as_expected", "unlikely", "too_few"])
    .describe("`unlikely`: outside of the band; `too_few`: there are too few to tell"),
};

const SeenRollout = z.strictObject({
  percentage: z.number(),
  threshold: z.number().describe("In if the hash is not above it"),
  unit: z.string().describe("What is hashed: `distinct id`, `device id`, or the name of a group type"),
  count: z.int().describe("Different ones that were seen"),
  without: z.int().describe("Ids that have nothing to hash"),
  within: z.int().describe("Those whose hash is not above the threshold"),
  bins: z.array(z.int()).describe("How many hashes lie in each twentieth of [0, 1]"),
  ...band,
});
/** The hashes of what was seen, against the threshold of a condition set. */
export type SeenRollout = z.infer<typeof SeenRollout>;

const SeenSet = z.strictObject({
  index: z.int().describe("From 0"),
  reached: z.int().describe("Ids that no condition set before decided"),
  taken: z.int().describe("Of these, ids that it gives the flag to"),
  rollout: SeenRollout.nullable().describe("null: nothing is hashed, all or none are in"),
});

const SeenVariant = z.strictObject({
  variant: z.string().nullable().describe("null: on, without a variant"),
  share: z.number().describe("In [0, 1]"),
  seen: z.int(),
  ...band,
});
export type SeenVariant = z.infer<typeof SeenVariant>;

/** What the rules give to the ids that were seen. */
export const FlagSeen = z
  .strictObject({
    project: z.int(),
    key: z.string(),
    active: z.boolean().describe("False: no id gets it, and nothing is counted"),
    ids: z.int().describe("Distinct ids that were seen in requests for flags and in events"),
    asked: z.int().describe("Of these, ids that a decision about this flag was for"),
    last_asked: z.iso.datetime().nullable(),
    is_all: z.boolean().describe("False: there may be more ids; the newest were counted"),
    sets: z.array(SeenSet),
    enrolled: z.int().describe("Ids that early access decided"),
    held_out: z.int(),
    failed: z.int().describe("Ids for which it cannot be computed"),
    off: z.int().describe("All other ids: no condition set gives it to them"),
    variants: z
      .strictObject({
        unit: z.string(),
        count: z.int().describe("Different ones whose hash draws the variant"),
        rows: z.array(SeenVariant),
      })
      .nullable()
      .describe("null: no variants"),
  })
  .meta({ title: "FlagSeen" });
export type FlagSeen = z.infer<typeof FlagSeen>;
