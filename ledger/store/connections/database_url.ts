/** A database address without what may be secret: user, query and fragment. */
export function publicUrl(url: string): string {
  const plain = url.replace(/[?#].*$/s, "");
  // A password may hold slashes and more than one @; a path may hold an @.
  return plain.startsWith("file:") ? plain : plain.replace(/\/\/.*@/s, "//");
}

/** Path of a `file:` address, `:memory:`, or null for any other address. */
export function localPath(url: string): string | null {
  return url === ":memory:" || url === "file::memory:"
    ? ":memory:"
    : databaseFile(url);
}

/** Path of a database in a file; null for one in memory or on a server. */
export function databaseFile(url: string): string | null {
  if (!url.startsWith("file:") || url === "file::memory:") return null;
  const path = url.slice("file:".length).replace(
    /^\/\/(?:localhost)?(?=\/)/,
    "",
  );
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A stray percent sign stands for itself.
  }
}
