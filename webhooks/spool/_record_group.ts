import { crc32 } from "node:zlib";
import {
  RECORD,
  RECORD_BYTES,
  type RecordFields,
  writeRecord,
} from "../../core/wire/delivery_records.ts";
import { LARGE_BODY_BYTES } from "../endpoint/body_room.ts";
import type { SpoolError } from "./spool.ts";

/** A buffer that is larger than this is not kept for the next group. */
const KEPT_BYTES = 1 << 20;

/** Records that are gathered while others are being written. */
export class RecordGroup {
  readonly #mark: number;
  #bytes = new Uint8Array(64 * 1024);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  #count = 0;
  #largeBytes = 0;
  /** One for all of the group; null while it is empty. */
  #kept: PromiseWithResolvers<void> | null = null;

  /** Records with the mark of the segments they go to. */
  constructor(mark: number) {
    this.#mark = mark;
  }

  /** How many records there are. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of those with large bodies. */
  get largeBytes(): number {
    return this.#largeBytes;
  }

  /** The records. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#end);
  }

  /**
   * Adds a record.
   *
   * @returns When the group is stored; all of a group wait for one promise.
   * @throws {TypeError} When its id is not a ULID.
   */
  add(fields: RecordFields): Promise<void> {
    const at = this.#end;
    this.#grow(at + RECORD_BYTES + fields.body.length);
    const end = writeRecord(fields, this.#bytes, this.#view, at);
    this.#view.setUint32(at + RECORD.mark, this.#mark, true);
    this.#view.setUint32(
      at + RECORD.checksum,
      checksum(this.#mark, this.#bytes.subarray(at, end)),
      true,
    );
    this.#end = end;
    this.#count++;
    this.#largeBytes += largeBytesOf(end - at);
    this.#kept ??= Promise.withResolvers();
    return this.#kept.promise;
  }

  /** Settles the promise of the group, and empties it. */
  settle(error: SpoolError | null): void {
    const kept = this.#kept;
    this.#kept = null;
    this.#count = 0;
    this.#largeBytes = 0;
    this.#end = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#resize(KEPT_BYTES);
    if (error === null) kept?.resolve();
    else kept?.reject(error);
  }

  #grow(bytes: number): void {
    if (bytes > this.#bytes.length) {
      this.#resize(Math.max(bytes, 2 * this.#bytes.length));
    }
  }

  #resize(size: number): void {
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

/** Bytes of a record if its body is large, else none. */
export function largeBytesOf(recordBytes: number): number {
  return recordBytes - RECORD_BYTES > LARGE_BODY_BYTES ? recordBytes : 0;
}

/** The checksum of a record: of its mark, its length, and all that follows. */
export function checksum(mark: number, record: Uint8Array): number {
  return crc32(record.subarray(RECORD.kind), (mark ^ record.length) >>> 0);
}
