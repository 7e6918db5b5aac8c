import * as z from "zod";
import type { Statistics } from "../../ledger/internals.ts";
import { count, ms, named, oneOf, text, time } from "./_building.ts";
import type { Same } from "./_same.ts";

const countOrNull = count.nullable();
const msOrNull = ms.nullable();

/** Figures over time. */
export const statisticsSchema = named(
  "Statistics",
  "Figures over time, for plots: answers, types and how far the work was",
  z.object({
    from: time,
    to: time,
    step: oneOf<Statistics["step"]>({ minute: true, hour: true, day: true }),
    points: z.array(z.object({
      at: time,
      processes: count,
      answers: z.record(text, count),
      types: z.record(text, count),
      received: count,
      ordersMoved: countOrNull,
      p50Ms: msOrNull,
      p99Ms: msOrNull,
      lag: countOrNull,
      spooled: countOrNull,
      backlogKnown: countOrNull,
      backlogUnknown: countOrNull,
      readingAgeMs: msOrNull,
    })),
  }),
);

true satisfies Same<z.infer<typeof statisticsSchema>, Statistics>;
