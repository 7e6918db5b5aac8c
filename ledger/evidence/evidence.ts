/** The evidence as its door gives it: its head, and whether it holds. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  bytesOf,
  type Driver,
  read,
  readDeciding,
  type Rows,
  type SqlValue,
  type Statement,
  statement,
} from "../store/database.ts";
import {
  EVENT_COLUMNS,
  hexOf,
  type RawEvent,
  rawEventsOf,
  storedTime,
} from "../store/events.ts";
import type {
  AnchoredHead,
  AnchorReset,
  ChainHead,
  HeadAnchor,
} from "./anchor_file.ts";
import { jsonRecord } from "../../core/guards.ts";
import { IS_RARE } from "../store/schema.ts";

/** Bytes of each leaf that are stored: enough to say which event was altered. */
const LEAF_BYTES = 8;

export interface Seal {
  readonly position: number;
  readonly events: number;
  readonly root: Uint8Array;
}

/** The hash over one event. The salt keeps a short body from being guessed. */
export function leafOf(event: RawEvent): Uint8Array {
  const { position, eventId, kind, recordedAt, readAt, salt, body } = event;
  const times = [storedTime(recordedAt), storedTime(readAt)];
  const head = JSON.stringify([position, eventId, kind, ...times]);
  return createHash("sha256").update(head).update(salt).update(body).digest();
}

export function firstSeal(ledgerId: string): Seal {
  const root = createHash("sha256").update(`rampkit/seal/1\n${ledgerId}`)
    .digest();
  return { position: 0, events: 0, root };
}

export function sealNext(
  before: Seal,
  events: readonly RawEvent[],
  leaves: readonly Uint8Array[] = events.map(leafOf),
): Seal & { readonly leaves: Uint8Array } {
  const last = events.at(-1)?.position ?? before.position;
  const count = before.events + events.length;
  const hash = createHash("sha256").update(before.root)
    .update(`${last} ${count}\n`);
  for (const leaf of leaves) hash.update(leaf);
  const short = leaves.map((leaf) => leaf.subarray(0, LEAF_BYTES));
  return {
    position: last,
    events: count,
    root: hash.digest(),
    leaves: Buffer.concat(short),
  };
}

/** Selects the last seal, and the id of the ledger for where there is none. */
export const selectLastSeal: Statement = statement(
  `SELECT (SELECT id FROM ledger), s.last_position, s.events, s.root
    FROM (SELECT 1) LEFT JOIN (SELECT * FROM seals
      ORDER BY last_position DESC LIMIT 1) AS s`,
);

export function lastSealOf(rows: Rows | undefined): Seal {
  const [[id, position, events, root] = []] = rows ?? [];
  if (position === null || position === undefined) return firstSeal(String(id));
  return {
    position: Number(position),
    events: Number(events),
    root: bytesOf(root as SqlValue),
  };
}

export function insertSeal(
  { position, events, root, leaves }: ReturnType<typeof sealNext>,
): Statement {
  const sql = "INSERT INTO seals VALUES (?, ?, ?, ?)";
  return statement(sql, position, events, root, leaves);
}

/**
 * What is wrong at a position.
 *
 * - `altered`: a column, the body, its digest or its salt was changed.
 * - `inserted`: the event was not there when the chain was extended past it.
 * - `removed`: the event is gone.
 * - `unexpected`: the chain is consistent, but it is not the one that was
 *   recorded elsewhere.
 */
export type Damage = "altered" | "inserted" | "removed" | "unexpected";

/**
 * What the chain was compared with besides itself: `expect`, what was recorded
 * elsewhere; `stored`, the head stored beside the ledger. Without either, a
 * tail that was cut off with its links goes unnoticed, and so does a chain that
 * was computed anew.
 */
export type Anchor = "expect" | "stored";

/** What {@linkcode verifyChain} found. */
export interface Verification {
  /** Whether nothing is wrong. */
  readonly ok: boolean;
  /** Events looked at. */
  readonly events: number;
  /** Events that the chain covers. */
  readonly chained: number;
  /** Events appended since the chain was last extended. */
  readonly unchained: number;
  /** Events whose body was erased; their commitment still verifies. */
  readonly erased: number;
  /** What the chain was compared with besides itself. */
  readonly anchors: readonly Anchor[];
  /** The head stored beside the ledger; null without one. */
  readonly anchoredHead: AnchoredHead | null;
  /** Anchored heads that a restore discarded, oldest first. */
  readonly resets: readonly AnchorReset[];
  /** Hash after the last event that was found to be right, 64 hex digits. */
  readonly hash: string;
  /** First position that is wrong; null when nothing is. */
  readonly firstBrokenPosition: number | null;
  /** What is wrong there. */
  readonly damage: Damage | null;
  /** Why it counts as wrong; null when nothing is. */
  readonly reason: DamageReason | null;
}

/** What to compare the chain with. */
export interface VerifyOptions {
  /** Count and hash that were printed earlier and recorded elsewhere. */
  readonly expect?: {
    /** Events of the chain at that time. */
    readonly count: number;
    /** Its hash at that time, 64 hex digits. */
    readonly hash: string;
  };
  /** Called after each step with the number of events checked. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

/** Why a position counts as damaged, as a code with its data. */
export type DamageReason =
  | {
    /**
     * - `event_gone`: the event is gone, its link is there.
     * - `link_missing`: the chain does not know the event.
     * - `event_altered`: the body or another part was changed.
     * - `erased_event_altered`: what was left of an erased event was changed.
     * - `link_altered`: the link of the event was changed.
     */
    readonly code:
      | "event_gone"
      | "link_missing"
      | "event_altered"
      | "erased_event_altered"
      | "link_altered";
  }
  | {
    /** Fewer events are chained than were expected. */
    readonly code: "fewer_than_expected";
    /** Events that were expected. */
    readonly expected: number;
    /** Events of the chain. */
    readonly chained: number;
  }
  | {
    /** The chain has another hash than was expected. */
    readonly code: "other_hash_than_expected";
    /** Events with that hash. */
    readonly chained: number;
  }
  | {
    /** The chain had events when its head was anchored, and is gone. */
    readonly code: "chain_gone";
    /** Events by the anchored head. */
    readonly events: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  }
  | {
    /** Fewer events are chained than when the head was anchored. */
    readonly code: "fewer_than_anchored";
    /** Events by the anchored head. */
    readonly events: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
    /** Events of the chain. */
    readonly chained: number;
  }
  | {
    /** The chain has another hash than the anchored head. */
    readonly code: "other_hash_than_anchored";
    /** Events with that hash. */
    readonly chained: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  }
  | {
    /** The anchored head is of another ledger. */
    readonly code: "anchored_head_of_other_ledger";
    /** Identifier of that ledger. */
    readonly ledgerId: string;
  }
  | {
    /** The anchored head cannot be read. */
    readonly code: "anchored_head_unreadable";
    /** Message of the error that reading it threw. */
    readonly error: string;
  };

export type Broken = readonly [number, Damage, DamageReason];

/** A head as it is kept elsewhere: `COUNT:HASH`. */
export function headText(
  { events, root }: Pick<Seal, "events" | "root">,
): string {
  return `${events}:${hexOf(root)}`;
}

interface SealsVerified extends Pick<Verification, "events" | "erased"> {
  /** Events that are not folded yet, which nothing vouches for. */
  readonly unsealed: number;
  readonly seal: Seal;
  /** The first thing that does not hold; null where all does. */
  readonly broken: Broken | null;
  /** Of heads kept elsewhere, those that the chain holds. */
  readonly held: ReadonlySet<string>;
}

const NEXT_SEAL = `(SELECT last_position FROM seals
  WHERE last_position > ?1 ORDER BY last_position LIMIT 1)`;

/** Nothing is before the first event, where somebody may put one. */
const LEAST = Number.MIN_SAFE_INTEGER;

export async function verifySeals(
  driver: Driver,
  { heads = [], onProgress, signal }: Omit<VerifyOptions, "expect"> & {
    readonly heads?: readonly string[];
  } = {},
): Promise<SealsVerified> {
  let { ledgerId, replaced } = await readReplaced(driver);
  const held = new Set<string>();
  let seal: Seal = firstSeal(ledgerId);
  let erased = 0;
  const said = (broken: Broken | null, unsealed = 0) => ({
    ...{ events: seal.events, erased, unsealed, seal, broken, held },
  });
  const odd = (...broken: Broken) => said(broken);
  for (;;) {
    for (const head of heads) if (headText(seal) === head) held.add(head);
    signal?.throwIfAborted();
    const [stored, rows, rest] = await readDeciding(
      driver,
      [
        `SELECT last_position, events, root, leaves FROM seals
          WHERE last_position = ${NEXT_SEAL}`,
        `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position > ?1
          AND e.position <= ${NEXT_SEAL} ORDER BY e.position`,
        `SELECT count(*), min(position), (SELECT position FROM ledger)
          FROM events WHERE position > iif(${NEXT_SEAL} IS NULL, ?1, 1 << 62)`,
      ].map((sql) => statement(sql, seal.events === 0 ? LEAST : seal.position)),
    );
    const next = stored?.[0];
    if (next === undefined) {
      const [unsealed, first, folded = 0] = (rest?.[0] ?? []).map(Number);
      // Whatever is folded is sealed in the same batch.
      return folded > seal.position
        ? odd(first || folded, "removed", { code: "link_missing" })
        : said(null, unsealed);
    }
    const events = rawEventsOf(rows);
    let erasedHere = 0;
    const leaves = events.map((event) => {
      const now = leafOf(event);
      const before = replaced.size === 0
        ? undefined
        : replaced.get(`${event.position} ${hexOf(now)}`);
      if (before !== undefined) erasedHere++;
      return before ?? now;
    });
    const marks = bytesOf(next[3]);
    const count = marks.length / LEAF_BYTES;
    const wrong = leaves.findIndex((leaf, at) => {
      const mark = marks.subarray(at * LEAF_BYTES, (at + 1) * LEAF_BYTES);
      return !same(leaf.subarray(0, LEAF_BYTES), mark);
    });
    const found = events[wrong];
    if (found !== undefined) {
      // It may have been erased since the erasures were read.
      const { replaced: later } = await readReplaced(driver);
      const isNew = later.size > replaced.size;
      replaced = later;
      if (isNew) continue;
    }
    if (events.length < count) {
      // Where it stood is not known, but that it followed what still holds.
      const before = found === undefined ? events.at(-1) : events[wrong - 1];
      const { position } = before ?? seal;
      return odd(position + 1, "removed", { code: "event_gone" });
    }
    if (found !== undefined) {
      const { position } = found;
      if (events.length > count) {
        return odd(position, "inserted", { code: "link_missing" });
      }
      const isErased = replaced.has(String(position));
      const code = isErased ? "erased_event_altered" : "event_altered";
      return odd(position, "altered", { code });
    }
    const again = sealNext(seal, events, leaves);
    const isSame = again.position === Number(next[0]) &&
      again.events === Number(next[1]) && same(again.root, bytesOf(next[2]));
    if (!isSame) {
      const position = events[0]?.position ?? Number(next[0]);
      return odd(position, "altered", { code: "link_altered" });
    }
    seal = again;
    erased += erasedHere;
    onProgress?.(seal.events);
  }
}

/**
 * Reads the leaf that is sealed where another body stands now: by position and new
 * leaf. A position alone says that something was replaced there.
 */
async function readReplaced(driver: Driver) {
  const [ledgers, erasures] = await readDeciding(driver, [
    statement("SELECT id FROM ledger"),
    statement(`SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.kind = 'person_erased' AND e.${IS_RARE} ORDER BY e.position`),
  ]);
  const ledgerId = String(ledgers?.[0]?.[0]);
  const all = new Map<string, Uint8Array>();
  for (const { body } of rawEventsOf(erasures)) {
    // One that was altered replaces nothing: so what it named is found altered too.
    const said = jsonRecord(Buffer.from(body).toString());
    const { ledger = ledgerId, replaced } = said ?? {};
    // Positions of a ledger that was imported are not ours.
    if (ledger !== ledgerId || !Array.isArray(replaced)) continue;
    for (const one of replaced) {
      const [position, before, after] = Array.from(Object(one), String);
      // What is erased twice keeps the leaf that was sealed.
      const sealed = all.get(`${position} ${before}`) ??
        Buffer.from(before ?? "", "hex");
      all.set(`${position} ${after}`, sealed);
      all.set(`${position}`, sealed);
    }
  }
  return { ledgerId, replaced: all };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

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
    const broken = anchored && breakOf(anchored, ledgerId, there?.[0]?.[0]);
    // A restore may have given up the anchor that this process knows.
    if (broken === null || afresh) {
      return { position, events, hash: hexOf(root), broken };
    }
  }
}

function breakOf(
  { ledgerId, events, position, hash, anchoredAt }: AnchoredHead,
  ownId: string,
  root: SqlValue | undefined,
): ChainBreak | null {
  if (ledgerId !== ownId) return { code: "other_ledger", ledgerId };
  if (hexOf(bytesOf(root)) === hash) return null;
  const code = root === undefined ? "link_gone" : "link_replaced";
  return { code, events, position, anchoredAt };
}

/** Stores the head beside the ledger too, where it continues from there. */
export async function anchorHead(parts: EvidenceParts): Promise<ChainState> {
  const head = await readHead(parts);
  if (head.broken === null) await parts.anchor?.save(head);
  return head;
}

/** Compares the evidence with what was kept elsewhere too. */
export async function verifyEvidence(
  { driver, ledgerId, anchor }: EvidenceParts,
  { expect, ...walk }: VerifyOptions = {},
): Promise<Verification> {
  // The anchor is read first: the evidence can only have grown since.
  const { head: anchoredHead = null, resets = [], unreadable = null } =
    await anchor?.record() ?? {};
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
