/** A file of an archive. */
export interface Entry {
  /** Its path, with a slash in front. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const BLOCK = 512;

/** The files of a tar archive whose names are short enough for its headers. */
export function* entriesOf(archive: Uint8Array<ArrayBuffer>): Generator<Entry> {
  for (let at = 0; archive[at] !== undefined && archive[at] !== 0;) {
    const header = archive.subarray(at, at + BLOCK);
    const size = parseInt(text(header, 124, 12), 8);
    const start = at + BLOCK;
    const kind = text(header, 156, 1);
    const path = [text(header, 345, 155), text(header, 0, 100)]
      .filter((part) => part !== "").join("/").replace(/^(?:\.?\/)?/, "/");
    if (kind === "0" || kind === "") {
      yield { path, bytes: archive.slice(start, start + size) };
    } else if (kind !== "5") {
      throw new TypeError(`Cannot read an entry of kind ${kind}: ${path}`);
    }
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function text(header: Uint8Array, at: number, length: number): string {
  const field = new TextDecoder().decode(header.subarray(at, at + length));
  return field.split("\0")[0] ?? "";
}
