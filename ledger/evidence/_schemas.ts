import { z } from "zod";
import type { ExportedEvent, ExportHeader, ExportTrailer } from "./export.ts";

const text = z.string().refine(
  (value) => value.isWellFormed() && !value.includes("\0"),
  "must be well formed and free of NUL",
);

export const header = z.object({
  rampkit: z.literal("ledger/1"),
  environment: z.string(),
  ledgerId: z.string().regex(/^[0-9a-f]{32}$/),
  createdAt: z.string(),
}) satisfies z.ZodType<ExportHeader>;

export const trailer = z.object({
  end: z.int().nonnegative(),
}) satisfies z.ZodType<ExportTrailer>;

export const event = z.object({
  position: z.int().positive(),
  eventId: text.min(1),
  kind: z.enum([
    "webhook",
    "order_snapshot",
    "user_snapshot",
    "order_absent",
    "order_contradicted",
    "session_created",
    "delivery_unanswered",
  ]),
  type: text.nullable(),
  orderId: text.nullable(),
  userId: text.nullable(),
  clickId: text.nullable(),
  occurredAt: text.nullable(),
  recordedAt: text,
  readAt: text.nullable(),
  body: z.base64().nullable(),
  digest: z.string().regex(/^[0-9a-f]{64}$/).nullable(),
  salt: z.base64().nullable(),
  commitment: z.base64().exactOptional(),
}) satisfies z.ZodType<ExportedEvent>;
