import { OPERATIONS } from "../operations/mod.ts";
import { givenAs, type Operation, paramsOf } from "../operations/operation.ts";
import { COMPONENTS } from "./json_schema.ts";

/** One kind of JSON that commands print. */
export interface Shape {
  /** What it is, in one sentence. */
  readonly description: string;
  /** Name of its schema among {@linkcode COMPONENTS}. */
  readonly component: string;
  /** Commands that print it, with the flags that it takes beside `--json`. */
  readonly commands: readonly string[];
}

/** A shape, and the commands that print it. */
export interface ListedShape extends Pick<Shape, "description" | "commands"> {
  /** The name that `rampkit schema` takes. */
  readonly name: string;
}

/** Every shape, by the name that `rampkit schema` takes. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  order: shape("Order", ["orders export --format ndjson"]),
  "order-detail": shape("OrderDetail"),
  "order-totals": shape("OrderTotals"),
  "daily-total": shape("DailyTotal", [
    "orders export --totals --format ndjson",
  ]),
  explanation: shape("Explanation"),
  freshness: shape("Freshness"),
  "recorded-release": shape("OrderRelease"),
  "order-look": shape("OrderLook"),
  asset: shape("Asset", ["assets"]),
  "chains-file": shape("ChainsFile"),
  note: shape("Note"),
  "found-by": shape("FoundBy"),
  anomaly: shape("Anomaly"),
  "order-state": shape("OrderState"),
  user: shape("User"),
  "user-detail": shape("UserDetail"),
  erasure: shape("Erasure"),
  "erased-people": shape("ErasedPeople"),
  "user-state": shape("UserState"),
  transition: shape("Transition"),
  "feed-entry": shape("FeedEntry"),
  "forwarded-transition": shape("ForwardedTransition"),
  "forwarded-alarm": shape("ForwardedAlarm"),
  found: shape("Found"),
  "attention-item": shape("AttentionItem"),
  machines: shape("Machines", ["machine"]),
  month: shape("Month"),
  "month-detail": shape("MonthDetail"),
  "month-summary": shape("MonthSummary"),
  "month-recomputation": shape("MonthRecomputation"),
  session: shape("Session"),
  expectation: shape("Expectation"),
  "poll-report": shape("PollReport"),
  "poll-status": shape("PollStatus"),
  "delivery-health": shape("DeliveryHealth"),
  "service-status": shape("ServiceStatus"),
  readiness: shape("Readiness"),
  "reconcile-report": shape("ReconcileReport"),
  "recover-report": shape("RecoverReport"),
  "conform-report": shape("ConformReport", ["conform"]),
  verification: shape("Verification"),
  "states-verification": shape("StatesVerification", [
    "ledger verify --states",
  ]),
  "ledger-stats": shape("LedgerStats"),
  "chain-state": shape("ChainState"),
  refold: shape("Refold"),
  pruning: shape("Pruning"),
  imported: shape("Imported"),
  backup: shape("Backup"),
  restored: shape("Restored"),
  "exported-line": shape("ExportedLine", ["ledger export"]),
  delivery: shape("Delivery"),
  "delivery-detail": shape("DeliveryDetail"),
  subscription: shape("Subscription"),
  retried: shape("Retried"),
  dropped: shape("Dropped"),
  stopped: shape("Stopped"),
  resumed: shape("Resumed"),
  fired: shape("Fired"),
  "fired-history": shape("FiredHistory"),
  unfired: shape("Unfired"),
  webhook: shape("Webhook", ["webhook parse"]),
  replayed: shape("Replayed"),
  sent: shape("Sent", ["webhook send"]),
  checks: shape("Checks", ["doctor"]),
  sandbox: shape("Sandbox", ["sandbox"]),
  listening: shape("Listening", ["listen"]),
  activity: shape("Activity", ["listen"]),
  trigger: shape("Triggered", ["trigger"]),
  demo: shape("Demo", ["demo"]),
  simulation: shape("Simulation", ["sim"]),
  benchmark: shape("Benchmark", ["bench"]),
  shape: shape("ListedShape", ["schema"]),
  error: shape("CommandError"),
};

function shape(
  component: string,
  others: readonly string[] = [],
): Shape {
  const [description = ""] = String(COMPONENTS[component]?.description)
    .split(/\.(?:\s|$)/);
  const commands = [...commandsOf(component), ...others];
  return { description, component, commands };
}

/** The commands of operations that print a component. */
function commandsOf(component: string): string[] {
  return OPERATIONS.filter((row) => printedBy(row) === component)
    .map(invocation);
}

/** What the command of an operation prints; null without one, and of a text. */
function printedBy({ command, result }: Operation): string | null {
  const { schema, many } = result;
  if (command === null || schema === null) return null;
  if (many !== "items") return schema;
  // Where a request gets all of it, the command prints each of its items.
  const { items = { items: { $ref: schema } } } = Object(
    COMPONENTS[schema]?.properties,
  );
  return items.items.$ref.split("/").at(-1);
}

/** A command with what it needs and others of its name do not. */
function invocation(row: Operation): string {
  const { command } = row;
  const same = OPERATIONS.filter((one) => one.command === command);
  const own = Object.entries(paramsOf(row)).filter(([name, param]) =>
    param.required && param.only !== "request" &&
    same.some((one) => !Object.hasOwn(paramsOf(one), name))
  );
  const words = own.map(([name, param]) =>
    param.place?.replaceAll(/[^a-z]/g, "").toUpperCase() ??
      givenAs([name, param])
  );
  return [command, ...words].join(" ");
}
