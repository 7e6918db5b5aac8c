import { monotonicFactory } from "ulid";
import { onDisk, openSpoolDisk } from "./spool_disk.ts";
import { SegmentedSpool } from "./segmented_spool.ts";
import type { Spool } from "./spool.ts";

/** Where and how {@linkcode fileSpool} keeps deliveries. */
export interface FileSpoolOptions {
  /**
   * Directory of the spool, readable by its owner alone; created whenever it
   * is missing.
   */
  readonly directory: string;
  /**
   * Most bytes to keep; beyond them deliveries are refused.
   *
   * @default 1073741824
   */
  readonly maxBytes?: number;
  /**
   * Size of a segment file, which is full of zeros before it is written. A
   * segment is used again or removed once all of it is drained, so a smaller
   * one means less to hand over twice after a crash. Where the disk has no room
   * for it, a smaller one is made.
   *
   * @default 4194304
   */
  readonly segmentBytes?: number;
  /**
   * Called for bytes that are not a record: one that a crash cut short, or other
   * damage. A segment with other damage is kept under a name ending in `.damaged`
   * when the rest of it has been drained.
   *
   * @default Damage is not reported.
   */
  readonly onDamage?: (damage: SpoolDamage) => void;
  /**
   * Wall clock in milliseconds since 1970.
   *
   * @default Date.now
   */
  readonly now?: () => number;
}

/** Bytes of a spool file that are not a record. */
export interface SpoolDamage {
  /** Name of the segment's file. */
  readonly segment: string;
  /** Where the bytes begin. */
  readonly offset: number;
  /** How many there are. */
  readonly bytes: number;
  /** Whether it is a record whose writing was cut short, as after a crash. */
  readonly torn: boolean;
}

/**
 * Opens a spool in a directory of the local disk.
 *
 * Every delivery is written and synced before {@linkcode Spool.put} resolves;
 * deliveries that arrive together share one sync. Several processes may use
 * one directory: each writes its own segments, and a segment whose process died
 * is drained by another. Needs permission to read and write there.
 *
 * @param options Where and how.
 * @returns The spool, with what an earlier process left in it.
 * @throws {SpoolError} When the directory cannot be read.
 * @throws {RangeError} When a limit is not a positive number.
 *
 * @example Keep deliveries, and let the ledger take them
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import {
 *   fileSpool,
 *   spoolMover,
 *   webhookEndpoint,
 * } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const directory = await Deno.makeTempDir();
 * const ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const spool = await fileSpool({ directory });
 * const mover = spoolMover({ spool, take: ledger.appendRecords });
 * const endpoint = webhookEndpoint({
 *   append: spool.put,
 *   noRoomFor: spool.noRoomFor,
 *   unanswered: spool.note,
 *   secrets: ["a-secret-of-32-random-characters"],
 * });
 * const url = "http://localhost/webhooks/a-secret-of-32-random-characters";
 * await endpoint(new Request(url, { method: "POST", body: "{}" }));
 * await mover.settled();
 * assert.equal((await ledger.stats()).events.webhook, 1);
 * await endpoint.drain();
 * await mover.stop();
 * await spool.close();
 * await ledger.close();
 * await Deno.remove(directory, { recursive: true });
 * ```
 */
export async function fileSpool(options: FileSpoolOptions): Promise<Spool> {
  const maxBytes = options.maxBytes ?? 1024 * 1024 * 1024;
  const segmentBytes = options.segmentBytes ?? 4 * 1024 * 1024;
  for (const [name, value] of Object.entries({ maxBytes, segmentBytes })) {
    if (value > 0) continue;
    throw new RangeError(
      `Cannot open spool: ${name} must be positive, current value is ${value}`,
    );
  }
  const ulid = monotonicFactory();
  return SegmentedSpool.open({
    disk: await onDisk("Cannot open spool", openSpoolDisk(options.directory)),
    newId: () => ulid(),
    mark: (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) || 1,
    maxBytes,
    segmentBytes,
    onDamage: options.onDamage ?? ((): void => {}),
    now: options.now ?? Date.now,
  });
}
