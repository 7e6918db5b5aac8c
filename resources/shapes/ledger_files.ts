import * as z from "zod";
import type { Refold } from "../../ledger/mod.ts";
import {
  count,
  flag,
  named,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { eventKindSchema } from "./explanation.ts";
import { entitySchema } from "./status.ts";
import { stateDifferenceSchema } from "./verification.ts";

/** What a refold came to. */
export const refoldSchema = named(
  "Refold",
  "What folding every event again changed, or would change",
  z.object({
    changed: count,
    changes: z.array(z.object({
      entity: entitySchema,
      id: text,
      fields: z.array(stateDifferenceSchema),
    })),
    events: count,
    position: count,
    swapped: flag,
  }),
);

/** What pruning took. */
export const pruneSchema = named(
  "Pruning",
  "How many bodies are gone, and how many that are as old stay",
  z.object({ before: time, pruned: count, left: count, cleaned: flag }),
);

/** What an import brought. */
export const importedSchema = named(
  "Imported",
  "How many events were imported, and how many were there already",
  z.object({ imported: count, skipped: count }),
);

/** Where a copy of the ledger is. */
export const backupSchema = named(
  "Backup",
  "Where the copy of the ledger is",
  z.object({ file: text }),
);

/** What a restore did. */
export const restoredSchema = named(
  "Restored",
  "What was restored, and where the ledger before it is now",
  z.object({
    restoredAt: time,
    file: text,
    from: text,
    previousFile: textOrNull,
    environment: text,
    events: count,
    hash: text,
  }),
);

const exported = {
  eventId: text,
  kind: eventKindSchema,
  type: textOrNull,
  orderId: textOrNull,
  userId: textOrNull,
  clickId: textOrNull,
  occurredAt: timeOrNull,
  recordedAt: time,
  readAt: timeOrNull,
  digest: textOrNull,
  salt: textOrNull,
  body: textOrNull,
};

/** A line of `ledger export`. */
export const exportedLineSchema = named(
  "ExportedLine",
  "A line of an export: the first says what it is, the last how many events " +
    "stood between",
  z.union([
    z.object({
      ...exported,
      erased: z.exactOptional(textOrNull),
      commitment: z.exactOptional(textOrNull),
    }),
    z.object({
      rampkit: z.literal("events"),
      version: z.literal(1),
      environment: text,
    }),
    z.object({
      erasure: text,
      row: z.array(z.union([text, z.number(), z.null()])),
    }),
    z.object({ end: count }),
  ]),
);

true satisfies Same<z.infer<typeof refoldSchema>, Refold>;
