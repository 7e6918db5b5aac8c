import * as z from "zod";
import type {
  ErasedPeople,
  ErasureJson,
} from "../commands/users/erasure_view.ts";
import {
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import type { Same } from "./_same.ts";
import { eventKindSchema } from "./explanation.ts";
import { trustSchema } from "./status.ts";

/** What an erasure took, or would take. */
export const erasureSchema = named(
  "Erasure",
  "What an erasure took of a person, or would take",
  z.object({
    userId: text,
    erased: flag,
    pseudonym: textOrNull,
    events: z.array(z.object({ kind: eventKindSchema, count })),
    fields: z.array(text),
    orders: z.array(z.object({
      orderId: text,
      status: text,
      trust: trustSchema,
      blocks: z.array(oneOf<"under_way" | "refund_due">({
        under_way: true,
        refund_due: true,
      })),
    })),
    cleaned: flag,
  }),
);

true satisfies Same<z.infer<typeof erasureSchema>, ErasureJson>;

/** Who was erased. */
export const erasedPeopleSchema = named(
  "ErasedPeople",
  "Who was erased, and what came of them later",
  z.object({
    user: z.object({ erasedAt: time, returnedAt: timeOrNull }).nullable(),
    people: z.array(z.object({
      pseudonym: text,
      erasedAt: time,
      events: count,
      orders: count,
    })),
    returned: z.array(z.object({ orderId: text, knownAt: time })),
  }),
);

true satisfies Same<z.infer<typeof erasedPeopleSchema>, ErasedPeople>;
