import {
  markIn,
  newSegment,
  roomIn,
  type Segment,
  segmentName,
} from "./segment.ts";
import { fillWithZeros, type SpoolDisk } from "./spool_disk.ts";

/** What segments are made with. */
export interface SupplyOptions {
  readonly disk: SpoolDisk;
  readonly newId: () => string;
  /** Random, and not zero: the beginning of each record. */
  readonly mark: number;
  /** Bytes of a segment. */
  readonly segmentBytes: number;
}

const DAMAGED_SUFFIX = ".damaged";
/** A segment that is not even this large is worth none. */
export const LEAST_BYTES = 64 * 1024;

/** Makes the segments that are written next, and lets go of drained ones. */
export class SegmentSupply {
  readonly #options: SupplyOptions;
  /** The next one; null when it could not be made. */
  #spare: Promise<Segment | null> | null = null;
  #closed = false;

  /** Makes nothing yet. */
  constructor(options: SupplyOptions) {
    this.#options = options;
  }

  /** Makes the next segment, so that no delivery waits for it. */
  prepare(): void {
    this.#spare ??= this.#create().catch(() => null);
  }

  /** Makes sure that there is a next segment; throws why there is none. */
  async ready(): Promise<void> {
    const spare = this.#spare;
    if (await spare || spare !== this.#spare) return;
    const making = this.#create();
    this.#spare = making.catch(() => null);
    await making;
  }

  /** A segment with room for so many bytes. */
  async take(bytes: number): Promise<Segment> {
    const spare = await this.#spare;
    if (!spare) this.#spare = null;
    if (!spare || roomIn(spare) < bytes) return await this.#create(bytes);
    this.#spare = null;
    return spare;
  }

  /** Lets go of a segment of which all was drained. */
  async release(segment: Segment): Promise<void> {
    const { segmentBytes, mark, disk } = this.#options;
    if (segment.damaged) {
      await disk.rename(segment.name, segment.name + DAMAGED_SUFFIX);
      segment.file.close();
    } else if (
      this.#spare === null && !this.#closed && markIn(segment.name) === mark &&
      segment.file.size === segmentBytes
    ) {
      this.#spare = this.#recycle(segment);
    } else await this.#discard(segment);
  }

  /** Removes the next segment, and makes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    const spare = await this.#spare;
    this.#spare = null;
    if (spare) await this.#discard(spare).catch(() => spare.file.close());
  }

  /** A new segment, smaller where the disk has no room for a whole one. */
  async #create(leastBytes = 0): Promise<Segment> {
    const { disk, newId, mark, segmentBytes } = this.#options;
    let size = Math.max(segmentBytes, leastBytes);
    for (;;) {
      const name = segmentName(newId(), mark);
      try {
        return newSegment(name, await disk.create(name, size));
      } catch (error) {
        size = size >> 1;
        if (size < Math.max(leastBytes, LEAST_BYTES)) throw error;
      }
    }
  }

  /** Empties a segment for the next use. Bodies are personal data as well. */
  async #recycle(segment: Segment): Promise<Segment | null> {
    try {
      await fillWithZeros(segment.file, segment.end);
      await segment.file.sync();
      return newSegment(segment.name, segment.file);
    } catch {
      await this.#discard(segment).catch(() => {});
      return null;
    }
  }

  async #discard(segment: Segment): Promise<void> {
    await this.#options.disk.remove(segment.name);
    segment.file.close();
  }
}
