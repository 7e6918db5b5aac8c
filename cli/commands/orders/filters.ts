import type { Command } from "commander";
import { defined } from "../../../core/defined.ts";
import type {
  AttentionKind,
  Ledger,
  OrderQuery,
  OrderState,
} from "../../../ledger/mod.ts";
import {
  ANOMALY_KINDS,
  ATTENTION_KINDS,
  attentionOf,
  orderMachine,
} from "../../../ledger/internals.ts";
import { UsageError } from "../../program/exit_codes.ts";
import { moment, TIME_FORMAT, windowEnd } from "../../program/options.ts";

/** Flags that choose orders. */
export interface OrderFilters {
  readonly status?: string;
  readonly user?: string;
  readonly click?: string;
  readonly asset?: string;
  readonly from?: string;
  readonly to?: string;
  readonly anomaly?: string | true;
  readonly attention?: AttentionKind;
}

/** The statuses that are documented; the service may use new ones. */
const STATUSES: readonly string[] = Object.keys(orderMachine.states);

/** Adds the flags that choose orders. */
export function filterOptions(command: Command): Command {
  return command
    .option(
      "--status <status>",
      `only orders in this status: ${STATUSES.join(", ")}`,
    )
    .option("--user <id>", "only orders of this user")
    .option("--click <id>", "only orders of this click id")
    .option("--asset <code>", "only orders of this asset, for example USDC")
    .option(
      "--from <time>",
      `created then or later: ${TIME_FORMAT}`,
      moment("--from"),
    )
    .option(
      "--to <time>",
      "created before then; a day is included whole",
      windowEnd("--to"),
    )
    .option(
      "--anomaly [kind]",
      "only orders with an anomaly, or with one of this kind",
      anomalyKind,
    )
    .option(
      "--attention <kind>",
      "only orders that wait for a person for this reason: see rampkit attention",
      (kind: string) => attentionKind("--attention", kind),
    );
}

/**
 * Reads why orders wait for a person.
 *
 * @param flag Where it was given, for the message.
 * @throws {UsageError} When it is no such reason.
 */
export function attentionKind(flag: string, kind: string): AttentionKind {
  const known = ATTENTION_KINDS.find((one) => one === kind);
  if (known !== undefined) return known;
  throw new UsageError(
    `Wrong ${flag}: "${kind}" is none of ${ATTENTION_KINDS.join(", ")}`,
  );
}

function anomalyKind(kind: string): string {
  if ((ANOMALY_KINDS as readonly string[]).includes(kind)) return kind;
  throw new UsageError(
    `Wrong --anomaly: "${kind}" is none of ${ANOMALY_KINDS.join(", ")}`,
  );
}

/**
 * Refuses a status that is mistyped: an empty list would look like an answer.
 * One that is not documented is taken once an order has it.
 *
 * @throws {UsageError} When it is neither documented nor in the ledger.
 */
export async function checkFilters(
  ledger: Ledger,
  { status }: OrderFilters,
): Promise<void> {
  if (status === undefined || STATUSES.includes(status)) return;
  for await (const _ of ledger.orders.list({ status })) return;
  throw new UsageError(
    `Wrong --status: "${status}" is none of ${STATUSES.join(", ")}, and no ` +
      "order of this ledger has it",
  );
}

/** The flags as a query. */
export function filterQuery(flags: OrderFilters): OrderQuery {
  return defined({
    status: flags.status,
    userId: flags.user,
    clickId: flags.click,
    commodity: flags.asset,
    createdAfter: justBefore(flags.from),
    createdUpTo: justBefore(flags.to),
    anomaly: flags.anomaly,
    attention: flags.attention,
  });
}

/** A window holds its start and not its end, so that days do not overlap. */
function justBefore(time: string | undefined): string | undefined {
  return time && new Date(Date.parse(time) - 1).toISOString();
}

/**
 * Whether an order is one that the flags choose: for states that are not those
 * of the read model.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 */
export function matches(
  order: OrderState,
  flags: OrderFilters,
  nowMs: number,
): boolean {
  const { status, user, click, asset, from, to, anomaly, attention } = flags;
  const { createdAt, anomalies, claimed } = order;
  const isCreated = createdAt !== null &&
    (from === undefined || Date.parse(createdAt) >= Date.parse(from)) &&
    (to === undefined || Date.parse(createdAt) < Date.parse(to));
  return (status === undefined || order.status === status) &&
    (user === undefined || order.userId === user) &&
    (click === undefined || order.clickId === click ||
      claimed?.clickId === click) &&
    (asset === undefined || order.commodity === asset.toUpperCase()) &&
    ((from ?? to) === undefined || isCreated) &&
    (anomaly === undefined ||
      anomalies.some(({ kind }) => anomaly === true || kind === anomaly)) &&
    (attention === undefined || attentionOf(order, nowMs).includes(attention));
}
