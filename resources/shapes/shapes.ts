import type * as z from "zod";
import { NOTES } from "./_building.ts";
import { anomalySchema } from "./anomaly.ts";
import { attentionItemSchema } from "./attention.ts";
import { deliveryDetailSchema, deliverySchema } from "./delivery.ts";
import { errorSchema } from "./error.ts";
import {
  forwardedAlarmSchema,
  forwardedTransitionSchema,
} from "./forwarded.ts";
import { explanationSchema } from "./explanation.ts";
import { foundSchema } from "./find.ts";
import {
  backupSchema,
  exportedLineSchema,
  importedSchema,
  pruneSchema,
  refoldSchema,
  restoredSchema,
} from "./ledger_files.ts";
import { machinesSchema } from "./machine.ts";
import {
  monthRecomputationSchema,
  monthSchema,
  monthSummarySchema,
} from "./month.ts";
import {
  foundBySchema,
  freshnessSchema,
  orderDetailSchema,
  orderSchema,
  orderStateSchema,
  recordedReleaseSchema,
} from "./order.ts";
import {
  deliveryHealthSchema,
  pollReportSchema,
  pollStatusSchema,
} from "./polling.ts";
import {
  activitySchema,
  benchSchema,
  checksSchema,
  dailyTotalSchema,
  demoSchema,
  expectationSchema,
  listedShapeSchema,
  listeningSchema,
  sandboxSchema,
  sessionSchema,
  simSchema,
  triggeredSchema,
} from "./programs.ts";
import { reconcileReportSchema, recoverReportSchema } from "./reconcile.ts";
import { readinessSchema, serviceStatusSchema } from "./service_status.ts";
import { chainStateSchema, statisticsSchema, statsSchema } from "./stats.ts";
import {
  droppedSchema,
  feedEntrySchema,
  firedHistorySchema,
  firedSchema,
  resumedSchema,
  retriedSchema,
  subscriptionSchema,
  transitionSchema,
  unfiredSchema,
} from "./transition.ts";
import {
  erasedPeopleSchema,
  erasureSchema,
  userDetailSchema,
  userSchema,
  userStateSchema,
} from "./user.ts";
import {
  statesVerificationSchema,
  verificationSchema,
} from "./verification.ts";
import {
  replayedSchema,
  sentSchema,
  WEBHOOKS,
  webhookSchema,
} from "./webhook.ts";

/** One kind of JSON that commands print. */
export interface Shape {
  /** What it is, in one sentence. */
  readonly description: string;
  /** What it must be. */
  readonly schema: z.ZodType;
  /** Commands that print it, with the flags that it takes beside `--json`. */
  readonly commands: readonly string[];
  /** Heading of its example in COMMANDS.md; null without one of its own. */
  readonly heading: string | null;
}

/** Every shape, by the name that `rampkit schema` takes. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  order: shape(
    orderSchema,
    [
      "orders list",
      "orders export --format ndjson",
      "orders explain --as-of",
    ],
    "orders list, orders show, orders export --format ndjson, orders explain --as-of",
  ),
  "order-detail": shape(orderDetailSchema, ["orders show"], null),
  "daily-total": shape(dailyTotalSchema, [
    "orders export --totals --format ndjson",
  ]),
  explanation: shape(explanationSchema, ["orders explain"]),
  freshness: shape(
    freshnessSchema,
    [],
    "freshness of orders show and users show",
  ),
  "recorded-release": shape(recordedReleaseSchema, ["release"]),
  "found-by": shape(foundBySchema, [], "foundBy of orders show"),
  anomaly: shape(anomalySchema),
  "order-state": shape(orderStateSchema),
  user: shape(userSchema, ["users list"], "users list, users show"),
  "user-detail": shape(userDetailSchema, ["users show"], null),
  erasure: shape(erasureSchema, ["users erase"]),
  "erased-people": shape(erasedPeopleSchema, ["users erased"]),
  "user-state": shape(userStateSchema),
  transition: shape(transitionSchema),
  "feed-entry": shape(feedEntrySchema),
  "forwarded-transition": shape(forwardedTransitionSchema),
  "forwarded-alarm": shape(forwardedAlarmSchema),
  found: shape(foundSchema, ["find"]),
  "attention-item": shape(attentionItemSchema, ["attention"]),
  machines: shape(machinesSchema, ["machine"]),
  month: shape(
    monthSchema,
    ["month close", "month list", "month show"],
    "month close, month list, month show --json",
  ),
  "month-summary": shape(monthSummarySchema, [], "month show"),
  "month-recomputation": shape(monthRecomputationSchema, [
    "month show --recompute",
  ]),
  session: shape(sessionSchema, ["session create"]),
  expectation: shape(expectationSchema, ["expect"]),
  "poll-report": shape(pollReportSchema, ["poll --once"]),
  "poll-status": shape(pollStatusSchema),
  "delivery-health": shape(deliveryHealthSchema),
  "service-status": shape(serviceStatusSchema),
  readiness: shape(readinessSchema, [], "GET /readyz of serve"),
  "reconcile-report": shape(reconcileReportSchema, ["reconcile"]),
  "recover-report": shape(recoverReportSchema, ["recover"]),
  verification: shape(verificationSchema, ["ledger verify"]),
  "states-verification": shape(statesVerificationSchema, [
    "ledger verify --states",
  ]),
  "ledger-stats": shape(statsSchema, ["ledger stats"]),
  statistics: shape(statisticsSchema),
  "chain-state": shape(chainStateSchema),
  refold: shape(refoldSchema, ["ledger refold"]),
  pruning: shape(pruneSchema, ["ledger prune"]),
  imported: shape(importedSchema, ["ledger import"]),
  backup: shape(backupSchema, ["ledger backup"]),
  restored: shape(restoredSchema, ["ledger restore"]),
  "exported-line": shape(exportedLineSchema, ["ledger export"], null),
  delivery: shape(deliverySchema, ["deliveries list"]),
  "delivery-detail": shape(deliveryDetailSchema, ["deliveries show"]),
  subscription: shape(subscriptionSchema, ["subscriptions list"]),
  retried: shape(retriedSchema, ["subscriptions retry"]),
  dropped: shape(droppedSchema, ["subscriptions drop"]),
  resumed: shape(resumedSchema, ["subscriptions resume"]),
  fired: shape(firedSchema, ["subscriptions fire KEY"]),
  "fired-history": shape(firedHistorySchema, [
    "subscriptions fire NAME --historic",
  ]),
  unfired: shape(unfiredSchema, ["subscriptions fire"]),
  webhook: shape(webhookSchema, ["webhook parse"], null),
  ...Object.fromEntries(
    Object.entries(WEBHOOKS).map(([type, schema]) => [
      `webhook-${type.replaceAll("_", "-")}`,
      shape(schema),
    ]),
  ),
  replayed: shape(replayedSchema, ["webhook replay"]),
  sent: shape(sentSchema, ["webhook send"]),
  checks: shape(checksSchema, ["doctor"]),
  sandbox: shape(sandboxSchema, ["sandbox"]),
  listening: shape(listeningSchema, ["listen"], "listen: its first line"),
  activity: shape(activitySchema, ["listen"]),
  trigger: shape(triggeredSchema, ["trigger"]),
  demo: shape(demoSchema, ["demo"]),
  simulation: shape(simSchema, ["sim"]),
  benchmark: shape(benchSchema, ["bench"], null),
  shape: shape(listedShapeSchema, ["schema"]),
  error: shape(errorSchema, [], "errors under --json"),
};

/**
 * @param commands Commands that print it.
 * @param heading Heading of its example. @default the first command, if any
 */
function shape(
  schema: z.ZodType,
  commands: readonly string[] = [],
  heading: string | null = commands[0] ?? null,
): Shape {
  const description = NOTES.get(schema)?.description ?? "";
  return { description, schema, commands, heading };
}
