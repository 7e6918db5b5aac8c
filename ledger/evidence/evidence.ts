/** The evidence as its door gives it: its head, and whether it holds. */
import type {
  DamageReason,
  Verification,
  VerifyOptions,
} from "./verification.ts";
import type {
  AnchoredHead,
  AnchorRecord,
  ChainHead,
  HeadAnchor,
} from "./head_anchor.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { bytesOf, read, statement } from "../store/database.ts";
import { hexOf } from "../store/events.ts";
import { lastSealOf, selectLastSeal } from "./seals.ts";
import { type Broken, verifySeals } from "./verify.ts";

/**
 * How far the chain reaches, and whether it continues from the anchored head.
 */
export interface ChainState extends ChainHead {
  /**
   * Why the chain is not extended: it does not continue from the anchored head.
   * Null when it does, or none is anchored.
   */
  readonly broken: ChainBreak | null;
}

/** Why the evidence chain does not continue from its anchored head. */
export type ChainBreak =
  | {
    /** The head is of another ledger: this one was put in its place. */
    readonly code: "other_ledger";
    /** Identifier of that ledger. */
    readonly ledgerId: string;
  }
  | {
    /**
     * - `link_gone`: the chain has no link at the head's position.
     * - `link_replaced`: it has another link there.
     */
    readonly code: "link_gone" | "link_replaced";
    /** Events by the head. */
    readonly events: number;
    /** Position of the head. */
    readonly position: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  };

interface EvidenceParts {
  readonly driver: Driver;
  readonly ledgerId: string;
  readonly anchor?: HeadAnchor | undefined;
}

/**
 * Reads how far the evidence reaches, and whether it continues from the head that
 * is stored beside the ledger.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function readHead(
  { driver, ledgerId, anchor }: EvidenceParts,
): Promise<ChainState> {
  for (let afresh = false;; afresh = true) {
    const anchored = await anchor?.head(afresh) ?? null;
    const [last, there] = await read(driver, [
      selectLastSeal,
      statement(
        "SELECT root FROM seals WHERE last_position = ?",
        anchored?.position ?? 0,
      ),
    ]);
    const { position, events, root } = lastSealOf(last);
    const broken = anchored === null
      ? null
      : breakOf(anchored, ledgerId, there?.[0]?.[0]);
    // A restore may have given up the anchor that this process knows.
    if (broken === null || afresh) {
      return { position, events, hash: hexOf(root), broken };
    }
  }
}

function breakOf(
  { ledgerId, events, position, hash, anchoredAt }: AnchoredHead,
  ownId: string,
  root: unknown,
): ChainBreak | null {
  if (ledgerId !== ownId) return { code: "other_ledger", ledgerId };
  if (root instanceof Uint8Array && hexOf(bytesOf(root)) === hash) return null;
  const code = root === undefined ? "link_gone" : "link_replaced";
  return { code, events, position, anchoredAt };
}

/** Stores the head beside the ledger too, where it continues from there. */
export async function anchorHead(parts: EvidenceParts): Promise<ChainState> {
  const head = await readHead(parts);
  if (head.broken === null) await parts.anchor?.save(head);
  return head;
}

/**
 * Works the evidence out anew, and compares it with what was kept elsewhere.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function verifyEvidence(
  { driver, ledgerId, anchor }: EvidenceParts,
  { expect, ...walk }: VerifyOptions = {},
): Promise<Verification> {
  // The anchor is read first: the evidence can only have grown since.
  const { record: { head: anchoredHead, resets }, unreadable } =
    await readAnchor(anchor);
  const expected = expect && `${expect.count}:${expect.hash}`;
  const kept = anchoredHead && `${anchoredHead.events}:${anchoredHead.hash}`;
  const heads = [expected, kept].filter((head) => !!head) as string[];
  const found = await verifySeals(driver, { heads, ...walk });
  const { seal, broken } = found;
  // What was kept elsewhere says best what is gone from the end.
  const isCut = broken === null ||
    (broken[1] === "removed" && broken[2].code === "link_missing");
  const isHeld = (head: string | null | undefined) =>
    !head || found.held.has(head);
  const odd = (isCut ? unexpected() : null) ?? broken;
  return {
    ok: odd === null,
    events: found.events + found.unsealed,
    ...{ chained: found.events, unchained: found.unsealed },
    erased: found.erased,
    anchors: [
      ...expect === undefined ? [] : ["expect" as const],
      ...anchoredHead === null ? [] : ["stored" as const],
    ],
    ...{ anchoredHead, resets, hash: hexOf(seal.root) },
    firstBrokenPosition: odd?.[0] ?? null,
    ...{ damage: odd?.[1] ?? null, reason: odd?.[2] ?? null },
  };

  function unexpected(): Broken | null {
    const odd = (position: number, reason: DamageReason) =>
      [position, "unexpected", reason] as const;
    const chained = seal.events;
    const next = seal.position + 1;
    if (expect !== undefined && !isHeld(expected)) {
      const { count } = expect;
      const code = "other_hash_than_expected";
      return count <= chained
        ? odd(seal.position, { code, chained: count })
        : odd(next, { code: "fewer_than_expected", expected: count, chained });
    }
    if (unreadable !== null) {
      return odd(next, { code: "anchored_head_unreadable", error: unreadable });
    }
    if (anchoredHead === null) return null;
    if (anchoredHead.ledgerId !== ledgerId) {
      const other = anchoredHead.ledgerId;
      return odd(1, { code: "anchored_head_of_other_ledger", ledgerId: other });
    }
    if (isHeld(kept)) return null;
    const { events, position, anchoredAt } = anchoredHead;
    if (chained === 0) {
      return odd(next, { code: "chain_gone", events, anchoredAt });
    }
    const code = "other_hash_than_anchored";
    return events <= chained
      ? odd(position, { code, chained: events, anchoredAt })
      : odd(next, { code: "fewer_than_anchored", events, anchoredAt, chained });
  }
}

async function readAnchor(anchor: HeadAnchor | undefined): Promise<{
  readonly record: AnchorRecord;
  readonly unreadable: string | null;
}> {
  const nothing: AnchorRecord = { head: null, resets: [] };
  try {
    return { record: await anchor?.record() ?? nothing, unreadable: null };
  } catch (error) {
    if (!(error instanceof LedgerError && error.code === "corrupt")) {
      throw error;
    }
    return { record: nothing, unreadable: error.message };
  }
}
