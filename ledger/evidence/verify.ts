/** Looks over the evidence: one walk over events and seals, a batch at a time. */
import { Buffer } from "node:buffer";
import type { Driver } from "../store/driver/driver.ts";
import { bytesOf, readDeciding, statement } from "../store/database.ts";
import { EVENT_COLUMNS, hexOf, rawEventsOf } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import type {
  Damage,
  DamageReason,
  Verification,
  VerifyOptions,
} from "./verification.ts";
import { firstSeal, LEAF_BYTES, leafOf, type Seal, sealNext } from "./seals.ts";

export type Broken = readonly [number, Damage, DamageReason];

/** A head as it is kept elsewhere: `COUNT:HASH`. */
export function headText(
  { events, root }: Pick<Seal, "events" | "root">,
): string {
  return `${events}:${hexOf(root)}`;
}

/** How far the seals hold. */
export interface SealsVerified extends Pick<Verification, "events" | "erased"> {
  /** Events that are not folded yet, which nothing vouches for. */
  readonly unsealed: number;
  readonly seal: Seal;
  /** The first thing that does not hold; null where all does. */
  readonly broken: Broken | null;
  /** Of heads kept elsewhere, those that the chain holds. */
  readonly held: ReadonlySet<string>;
}

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
    const [stored, rows] = await readDeciding(driver, [
      statement(
        `SELECT last_position, events, root, leaves FROM seals
          WHERE last_position > ? ORDER BY last_position LIMIT 1`,
        seal.position,
      ),
      statement(
        `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position > ?1
          AND e.position <= (SELECT last_position FROM seals
            WHERE last_position > ?1 ORDER BY last_position LIMIT 1)
          ORDER BY e.position`,
        seal.position,
      ),
    ]);
    const next = stored?.[0];
    if (next === undefined) {
      const [rest] = await readDeciding(driver, [
        statement(
          `SELECT count(*), min(position), (SELECT position FROM ledger),
            EXISTS (SELECT 1 FROM seals WHERE last_position > ?1)
            FROM events WHERE position > ?1`,
          seal.position,
        ),
      ]);
      const [unsealed, first, folded, isLater] = (rest?.[0] ?? []).map(Number);
      // More was folded since the batch before was read.
      if (isLater === 1) continue;
      // Whatever is folded is sealed in the same batch.
      return (folded ?? 0) > seal.position
        ? odd(first || (folded ?? 0), "removed", { code: "link_missing" })
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
    const { ledger = ledgerId, replaced = [] } = JSON.parse(
      Buffer.from(body).toString(),
    ) as {
      ledger?: string;
      replaced?: readonly (readonly [number, string, string])[];
    };
    // Positions of a ledger that was imported are not ours.
    if (ledger !== ledgerId) continue;
    for (const [position, before, after] of replaced) {
      // What is erased twice keeps the leaf that was sealed.
      const sealed = all.get(`${position} ${before}`) ??
        Buffer.from(before, "hex");
      all.set(`${position} ${after}`, sealed);
      all.set(String(position), sealed);
    }
  }
  return { ledgerId, replaced: all };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
