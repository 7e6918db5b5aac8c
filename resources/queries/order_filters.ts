import { defined } from "../../core/defined.ts";
import type {
  AttentionKind,
  Ledger,
  OrderQuery,
  OrderState,
  Release,
  ReleaseReason,
} from "../../ledger/mod.ts";
import {
  ANOMALY_KINDS,
  ATTENTION_KINDS,
  attentionOf,
  orderMachine,
} from "../../ledger/for_resources.ts";
import { UsageError } from "../../settings/errors.ts";
import { RELEASE, RELEASE_REASON } from "../wording/release.ts";

/** What chooses orders; all that is set must hold. */
export interface OrderFilters {
  /** Only this status. */
  readonly status?: string;
  /** Only orders of this user. */
  readonly user?: string;
  /** Only orders of this click id. */
  readonly click?: string;
  /** Only orders of this asset. */
  readonly asset?: string;
  /** Created then or later, UTC ISO 8601. */
  readonly from?: string;
  /** Created before then, UTC ISO 8601. */
  readonly to?: string;
  /** Only orders with an anomaly, or with one of this kind. */
  readonly anomaly?: string | true;
  /** Only orders that wait for a person for this reason. */
  readonly attention?: AttentionKind;
  /** Only orders of this release. */
  readonly release?: Release;
  /** Only orders whose release has this reason. */
  readonly reason?: ReleaseReason;
}

/** The statuses that are documented; the service may use new ones. */
export const STATUSES: readonly string[] = Object.keys(orderMachine.states);

/** What a release can be. */
export const RELEASES: readonly Release[] = Object.keys(RELEASE) as Release[];

/** The reasons that a release can have. */
export const RELEASE_REASONS: readonly ReleaseReason[] = Object.keys(
  RELEASE_REASON,
) as ReleaseReason[];

/**
 * A reader of one of some words.
 *
 * @param words The words.
 * @returns Reads a text; `field` is where it was given, for the message. It
 * throws a {@linkcode UsageError} when the text is none of the words.
 */
function reader<Word extends string>(
  words: readonly Word[],
): (field: string, text: string) => Word {
  return (field, text) => {
    const known = words.find((one) => one === text);
    if (known !== undefined) return known;
    throw new UsageError(
      `Wrong ${field}: "${text}" is none of ${words.join(", ")}`,
    );
  };
}

/** Reads why orders wait for a person. */
export const attentionKind: (field: string, text: string) => AttentionKind =
  reader(ATTENTION_KINDS);

/** Reads a kind of anomaly. */
export const anomalyKind: (field: string, text: string) => string = reader(
  ANOMALY_KINDS,
);

/** Reads a release. */
export const releaseWord: (field: string, text: string) => Release = reader(
  RELEASES,
);

/** Reads the reason of a release. */
export const releaseReason: (field: string, text: string) => ReleaseReason =
  reader(RELEASE_REASONS);

/**
 * Refuses a status that is mistyped: an empty list would look like an answer.
 * One that is not documented is taken once an order has it.
 *
 * @param field Where it was given, for the message.
 * @throws {UsageError} When it is neither documented nor in the ledger.
 */
export async function checkStatus(
  ledger: Ledger,
  field: string,
  status: string | undefined,
): Promise<void> {
  if (status === undefined || STATUSES.includes(status)) return;
  const { orders } = await ledger.orders.page({ status, limit: 1 });
  if (orders.length > 0) return;
  throw new UsageError(
    `Wrong ${field}: "${status}" is none of ${STATUSES.join(", ")}, and no ` +
      "order of this ledger has it",
  );
}

/** The filters as a query of the ledger. */
export function orderQuery(filters: OrderFilters): OrderQuery {
  return defined({
    status: filters.status,
    userId: filters.user,
    clickId: filters.click,
    commodity: filters.asset,
    createdAfter: justBefore(filters.from),
    createdUpTo: justBefore(filters.to),
    anomaly: filters.anomaly,
    attention: filters.attention,
    release: filters.release,
    releaseReason: filters.reason,
  });
}

/** A window holds its start and not its end, so that days do not overlap. */
function justBefore(time: string | undefined): string | undefined {
  return time && new Date(Date.parse(time) - 1).toISOString();
}

/**
 * Whether an order is one that the filters choose: for states that are not
 * those of the read model.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 */
export function matches(
  order: OrderState,
  filters: OrderFilters,
  nowMs: number,
): boolean {
  const { status, user, click, asset, from, to, anomaly, attention } = filters;
  const { release, reason } = filters;
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
    (attention === undefined ||
      attentionOf(order, nowMs).includes(attention)) &&
    (release === undefined || order.release === release) &&
    (reason === undefined || order.releaseReason === reason);
}
