import { COMPONENTS } from "./json_schema.ts";

/** One kind of JSON that commands print. */
export interface Shape {
  /** What it is, in one sentence. */
  readonly description: string;
  /** Name of its schema among {@linkcode COMPONENTS}. */
  readonly component: string;
  /** Commands that print it, with the flags that it takes beside `--json`. */
  readonly commands: readonly string[];
  /** Heading of its example in COMMANDS.md; null without one of its own. */
  readonly heading: string | null;
}

/** A shape, and the commands that print it. */
export interface ListedShape extends Pick<Shape, "description" | "commands"> {
  /** The name that `rampkit schema` takes. */
  readonly name: string;
}

/** Every shape, by the name that `rampkit schema` takes. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  order: shape(
    "Order",
    [
      "orders list",
      "orders export --format ndjson",
      "orders explain --as-of",
    ],
    "orders list, orders show, orders export --format ndjson, orders explain --as-of",
  ),
  "order-detail": shape("OrderDetail", ["orders show"], null),
  "order-totals": shape("OrderTotals", ["orders totals"]),
  "daily-total": shape("DailyTotal", [
    "orders export --totals --format ndjson",
  ]),
  explanation: shape("Explanation", ["orders explain"]),
  freshness: shape("Freshness", [], "freshness of orders show and users show"),
  "recorded-release": shape("OrderRelease", ["release"]),
  "order-look": shape("OrderLook", ["witness"]),
  asset: shape("Asset", ["assets"]),
  "chains-file": shape("ChainsFile"),
  case: shape("Case", ["case"]),
  "found-by": shape("FoundBy", [], "foundBy of orders show"),
  anomaly: shape("Anomaly"),
  "order-state": shape("OrderState"),
  user: shape("User", ["users list"], "users list, users show"),
  "user-detail": shape("UserDetail", ["users show"], null),
  erasure: shape("Erasure", ["users erase"]),
  "erased-people": shape("ErasedPeople", ["users erased"]),
  "user-state": shape("UserState"),
  transition: shape("Transition"),
  "feed-entry": shape("FeedEntry"),
  "forwarded-transition": shape("ForwardedTransition"),
  "forwarded-alarm": shape("ForwardedAlarm"),
  found: shape("Found", ["find"]),
  "attention-item": shape("AttentionItem", ["attention"]),
  machines: shape("Machines", ["machine"]),
  month: shape("Month", ["month list"]),
  "month-detail": shape(
    "MonthDetail",
    ["month show", "month close"],
    "month show, month close",
  ),
  "statement-match": shape("StatementMatch", ["statement match"]),
  "statement-map": shape("StatementMap"),
  "month-summary": shape("MonthSummary"),
  "month-recomputation": shape("MonthRecomputation", [
    "month show --recompute",
  ]),
  session: shape("Session", ["session create"]),
  expectation: shape("Expectation", ["expect"]),
  "poll-report": shape("PollReport", ["poll --once"]),
  "poll-status": shape("PollStatus"),
  "delivery-health": shape("DeliveryHealth"),
  "service-status": shape("ServiceStatus"),
  readiness: shape("Readiness", [], "GET /readyz of serve"),
  "reconcile-report": shape("ReconcileReport", ["reconcile"]),
  "recover-report": shape("RecoverReport", ["recover"]),
  "conform-report": shape("ConformReport", ["conform"]),
  verification: shape("Verification", ["ledger verify"]),
  "states-verification": shape("StatesVerification", [
    "ledger verify --states",
  ]),
  "ledger-stats": shape("LedgerStats", ["ledger stats"]),
  statistics: shape("Statistics"),
  "chain-state": shape("ChainState"),
  refold: shape("Refold", ["ledger refold"]),
  pruning: shape("Pruning", ["ledger prune"]),
  imported: shape("Imported", ["ledger import"]),
  backup: shape("Backup", ["ledger backup"]),
  restored: shape("Restored", ["ledger restore"]),
  copied: shape("LedgerCopy", ["ledger copy"]),
  "exported-line": shape("ExportedLine", ["ledger export"], null),
  delivery: shape("Delivery", ["deliveries list"]),
  "delivery-detail": shape("DeliveryDetail", ["deliveries show"]),
  subscription: shape("Subscription", ["subscriptions list"]),
  retried: shape("Retried", ["subscriptions retry"]),
  dropped: shape("Dropped", ["subscriptions drop"]),
  stopped: shape("Stopped", ["subscriptions stop"]),
  resumed: shape("Resumed", ["subscriptions resume"]),
  fired: shape("Fired", ["subscriptions fire KEY"]),
  "fired-history": shape("FiredHistory", [
    "subscriptions fire NAME --historic",
  ]),
  unfired: shape("Unfired", ["subscriptions fire"]),
  webhook: shape("Webhook", ["webhook parse"], null),
  ...Object.fromEntries(webhooks()),
  replayed: shape("Replayed", ["webhook replay"]),
  sent: shape("Sent", ["webhook send"]),
  checks: shape("Checks", ["doctor"]),
  sandbox: shape("Sandbox", ["sandbox"]),
  listening: shape("Listening", ["listen"], "listen: its first line"),
  activity: shape("Activity", ["listen"]),
  trigger: shape("Triggered", ["trigger"]),
  demo: shape("Demo", ["demo"]),
  simulation: shape("Simulation", ["sim"]),
  benchmark: shape("Benchmark", ["bench"], null),
  shape: shape("ListedShape", ["schema"]),
  error: shape("CommandError", [], "errors under --json"),
};

/**
 * @param commands Commands that print it.
 * @param heading Heading of its example. @default the first command, if any
 */
function shape(
  component: string,
  commands: readonly string[] = [],
  heading: string | null = commands[0] ?? null,
): Shape {
  const [description = ""] = String(COMPONENTS[component]?.description)
    .split(/\.(?:\s|$)/);
  return { description, component, commands, heading };
}

/** A shape of each type of webhook: `webhook-order-complete`. */
function webhooks(): [string, Shape][] {
  return Object.entries(COMPONENTS).flatMap(([name, { properties }]) => {
    const { type } = Object(properties);
    return name.startsWith("Webhook") && typeof type?.const === "string"
      ? [[`webhook-${type.const.replaceAll("_", "-")}`, shape(name)]]
      : [];
  });
}
