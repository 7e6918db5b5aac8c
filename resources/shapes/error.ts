import * as z from "zod";
import { flag, named, text, textOrNull } from "./_building.ts";

/** An error under `--json`. */
export const errorSchema = named(
  "CommandError",
  "Why a command failed: the last line on standard error under --json",
  z.object({
    error: z.object({
      code: text,
      message: text,
      exitCode: z.int(),
      faults: z.array(z.object({ field: text, rule: text })),
      service: z.object({
        status: z.int().nullable(),
        requestId: textOrNull,
        retryable: flag,
      }).nullable(),
    }),
  }),
);
