/** Puts redacted events in the place of others, and makes the states that follow anew. */
import { ulid } from "ulid";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { record } from "../events/record.ts";
import { leafOf } from "../evidence/seals.ts";
import { isFinal } from "../machines/order_machine.ts";
import type { Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { rowsAnew } from "../projection/anew.ts";
import {
  type Guard,
  guardOf,
  moveGuard,
  selectGuard,
} from "../projection/guard.ts";
import type { LookupHash } from "../projection/lookup_hash.ts";
import type { FoldCode } from "../projection/project.ts";
import { dropRefolded } from "../projection/refold.ts";
import { updateRow } from "../projection/rows.ts";
import { orderState } from "../states/order_state.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { appendStatement, hexOf } from "../store/events.ts";

export interface ErasureParts {
  readonly driver: Driver;
  readonly assets: AssetTable;
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly fold: FoldCode;
}

export interface Replacement {
  readonly before: RecordedEvent;
  readonly after: RecordedEvent;
}

/** Reads how far events are folded; what is not folded yet is redacted as it comes. */
export async function readFolded(
  { driver, fold }: ErasureParts,
  work: "erase" | "prune",
): Promise<Guard> {
  const [rows] = await readDeciding(driver, [selectGuard]);
  const guard = guardOf(rows);
  if (guard.foldVersion === fold.version) return guard;
  throw new LedgerError(
    "failed",
    `Cannot ${work}: the events are not folded by this version; fold them first, ` +
      "with ledger.project()",
  );
}

/** What follows where events are replaced. Nothing leads to the orders from now on. */
export async function replaceEvents(
  { driver, assets, now, randomBytes, fold: { readFact } }: ErasureParts,
  { guard, replaced, orders = [] }: {
    readonly guard: Guard;
    readonly replaced: readonly Replacement[];
    readonly orders?: readonly { readonly no: number }[];
  },
): Promise<Statement[]> {
  const nos = orders.map(({ no }) => no);
  const { hash } = guard;
  const until = guard.position;
  // Nothing vouches yet for what is not folded.
  const folded = replaced.filter(({ before }) => before.position <= until);
  const positions = listed(folded.map(({ before }) => before.position));
  const counts: Record<string, number> = { ...guard.counts };
  for (const { before, after } of folded) {
    counts[before.kind] = (counts[before.kind] ?? 0) - 1;
    counts[after.kind] = (counts[after.kind] ?? 0) + 1;
  }
  const touched = statement(
    `SELECT no FROM mentions WHERE position IN
        (SELECT value FROM json_each(?1))
      UNION SELECT no FROM lookup WHERE hash IN
        (SELECT value FROM json_each(?2))
      UNION SELECT value FROM json_each(?3)`,
    positions,
    listed(folded.flatMap(({ before }) => linksOf(readFact(before), hash))),
    listed(nos),
  );
  const anew = {
    ...{ assets, readFact, hash, until },
    replaced: new Map(folded.map(({ after }) => [after.position, after])),
  };
  const states: Statement[] = [];
  const nobody: number[] = [];
  for (const table of ["orders", "users"] as const) {
    const [found = []] = await readDeciding(driver, [{
      sql: `SELECT no, id, historic, told FROM ${table}
        WHERE no IN (${touched.sql})`,
      args: touched.args,
    }]);
    const rows = found.map(([no = 0, id = "", historic = 0, told = ""]) => ({
      ...{ no, id, historic, told },
    }));
    const made = await rowsAnew(driver, rows, anew);
    for (const [no, { fold, columns }] of made) {
      if (table === "users" && fold.activity.firstAt === null) nobody.push(no);
      states.push(updateRow(table, columns));
    }
  }
  const [ledger] = await readDeciding(driver, [
    statement("SELECT id FROM ledger"),
  ]);
  const body = {
    ledger: String(ledger?.[0]?.[0]),
    replaced: folded.map(({ before, after }) => [
      before.position,
      hexOf(leafOf(before)),
      hexOf(leafOf(after)),
    ]),
  };
  const drop = (nos: readonly number[]) => (table: string) =>
    statement(
      `DELETE FROM ${table} WHERE no IN (SELECT value FROM json_each(?))`,
      listed(nos),
    );
  return [
    moveGuard(guard, { erasures: guard.erasures + 1, counts }),
    ...dropRefolded,
    ...replaced.map(({ after }) => updateEvent(after)),
    ...folded.length === 0 ? [] : [appendStatement([
      record("person_erased", body, {
        eventId: ulid(now(), () => (randomBytes(1)[0] ?? 0) / 256),
        recordedAt: new Date(now()).toISOString(),
        salt: randomBytes(16),
      }),
    ])],
    // That something was expected stays known.
    statement(
      `UPDATE expected SET click = NULL, reference = NULL, session = NULL
        WHERE position IN (SELECT value FROM json_each(?))`,
      positions,
    ),
    ...states,
    drop(nos)("lookup_rows"),
    ...["outbox", "users", "mentions", "log"].map(drop(nobody)),
  ];
}

/** How an order compares must stay known when readings and terms are redacted. */
export function matchToKeep(
  fold: OrderFold | undefined,
  { assets }: ErasureParts,
): MatchFact | null {
  return fold?.latest ? matchExpectations(fold, assets).match : null;
}

/**
 * Why a person should not be erased yet.
 * - `under_way`: an order has no final status that the service has confirmed.
 * - `refund_due`: money of an order has to be given back.
 */
export type ErasureBlock = "under_way" | "refund_due";

/** An order of a person who is to be erased. */
export interface ErasableOrder {
  /** The order. It stays, with its status, times, amounts, fees and asset. */
  readonly orderId: string;
  /** Its status. */
  readonly status: string;
  /** Whether the service has confirmed it. */
  readonly trust: Trust;
  /** Why it should not be erased yet. */
  readonly blocks: readonly ErasureBlock[];
}

export function erasableOrder(
  fold: OrderFold,
  { assets }: ErasureParts,
): ErasableOrder {
  const { orderId, status, trust, attention } = orderState(fold, { assets });
  const blocks: ErasureBlock[] = [];
  if (trust !== "confirmed" || !isFinal(status)) blocks.push("under_way");
  if (attention.includes("refund_due")) blocks.push("refund_due");
  return { orderId, status, trust, blocks };
}

/** By what terms lead to orders. */
export function linksOf(fact: Fact, hash: LookupHash): number[] {
  if (!isExpectation(fact)) return [];
  const { clickId, sessionId, reference } = fact.expectation;
  const links = { click: clickId, session: sessionId, reference };
  return (["click", "session", "reference"] as const).flatMap((kind) =>
    links[kind] === null ? [] : hash.of(kind, links[kind])
  );
}

export function updateEvent(after: RecordedEvent): Statement {
  return statement(
    `UPDATE events SET id = ?2, kind = ?3, body = ?4, salt = ?5
      WHERE position = ?1`,
    ...[after.position, after.eventId, after.kind, after.body, after.salt],
  );
}
