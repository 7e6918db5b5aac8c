/** No identifier holds it, so that it marks what would be read as a step. */
const MARK = "\0";

/**
 * Writes an identifier as one segment of a path. `.` and `..` are steps through
 * the path for every browser and proxy, percent-encoded or not, so a link of
 * such an id would lead elsewhere: they are written with `%00` before them.
 */
export function pathOfId(id: string): string {
  return encodeURIComponent(id === "." || id === ".." ? MARK + id : id);
}

/**
 * Reads the identifier of a segment that {@linkcode pathOfId} wrote, or anybody
 * by hand.
 */
export function idOfPath(segment: string): string {
  return segment.startsWith(MARK) ? segment.slice(MARK.length) : segment;
}
