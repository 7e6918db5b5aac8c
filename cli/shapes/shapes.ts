import type * as z from "zod";
import { NOTES } from "./_building.ts";
import { attentionItemSchema } from "./attention.ts";
import { deliverySchema, shownDeliverySchema } from "./delivery.ts";
import { orderSchema, shownOrderSchema } from "./order.ts";
import {
  deliveryHealthSchema,
  pollReportSchema,
  pollStatusSchema,
  readinessSchema,
} from "./polling.ts";
import { statsSchema } from "./stats.ts";
import {
  droppedSchema,
  firedSchema,
  retriedSchema,
  subscriptionSchema,
  transitionSchema,
  unfiredSchema,
} from "./transition.ts";
import { shownUserSchema, userSchema } from "./user.ts";

/** One kind of JSON that commands print. */
export interface Shape {
  /** What it is, in one sentence. */
  readonly description: string;
  /** What it must be. */
  readonly schema: z.ZodType;
  /** Commands that print it as `--json`. */
  readonly commands: readonly string[];
  /** Headings of its examples in COMMANDS.md. */
  readonly headings: readonly string[];
}

/** Every shape, by the name that `rampkit schema` takes. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  order: shape(orderSchema, ["orders list", "orders explain"], [
    "orders list, orders show, orders export --format ndjson, orders explain --as-of",
  ]),
  "shown-order": shape(shownOrderSchema, ["orders show"]),
  user: shape(userSchema, ["users list"], ["users list, users show"]),
  "shown-user": shape(shownUserSchema, ["users show"]),
  transition: shape(transitionSchema),
  delivery: shape(deliverySchema, ["deliveries list"]),
  "shown-delivery": shape(shownDeliverySchema, ["deliveries show"]),
  "attention-item": shape(attentionItemSchema, ["attention"]),
  "ledger-stats": shape(statsSchema, ["ledger stats"]),
  "delivery-health": shape(deliveryHealthSchema),
  "poll-status": shape(pollStatusSchema),
  "poll-report": shape(pollReportSchema, ["poll"], ["poll --once"]),
  readiness: shape(readinessSchema, [], ["GET /readyz of serve"]),
  subscription: shape(subscriptionSchema, ["subscriptions list"]),
  unfired: shape(unfiredSchema, ["subscriptions fire"]),
  retried: shape(retriedSchema, ["subscriptions retry"]),
  dropped: shape(droppedSchema, ["subscriptions drop"]),
  fired: shape(firedSchema, ["subscriptions fire"], ["subscriptions fire KEY"]),
};

/**
 * @param commands Commands that print it.
 * @param headings Headings of its examples. @default the commands
 */
function shape(
  schema: z.ZodType,
  commands: readonly string[] = [],
  headings: readonly string[] = commands,
): Shape {
  const description = NOTES.get(schema)?.description ?? "";
  return { description, schema, commands, headings };
}
