import type { AnchorRecord } from "../hashes/anchored_head.ts";

/** A restore that was announced and may have happened since. */
export interface AnnouncedRestore {
  /** When it was announced, UTC ISO 8601. */
  readonly at: string;
  /** Device and inode of the file that takes the ledger's place. */
  readonly file: string;
}

/**
 * What is kept for the file that is in the ledger's place now. Moving a file
 * keeps its inode, so this says exactly whether an announced restore happened:
 * if it did, the head belongs to the ledger that was replaced and is given up;
 * if not, the head holds.
 *
 * @param file Device and inode of the ledger's file.
 * @param record What the file beside it says.
 */
export function anchorFor(
  file: string,
  { head, resets, restoring }: AnchorRecord & {
    readonly restoring?: AnnouncedRestore | undefined;
  },
): AnchorRecord {
  if (head === null || restoring?.file !== file) return { head, resets };
  const { events, hash } = head;
  return {
    head: null,
    resets: [...resets, { at: restoring.at, events, hash }],
  };
}
